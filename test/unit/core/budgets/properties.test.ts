import fc from 'fast-check';
import { createMemoryCounters } from '../../../../src/counters/memory/create-memory-counters';
import { AlgorithmCounter } from '../../../support/algorithm-counter';
import { budgetOf, inFlight } from '../../../support/budgets';
import { createDecider, decisionOf } from '../../../support/decider';
import { limiterOf } from '../../../support/limiters';
import { descriptor, request } from '../../../support/requests';
import { rulesOf, type RuleSketch } from '../../../support/rules';
import { tickAt } from '../../../../src/core/kinds/ticks';

const START = 1_795_240_800;

function setUp(rule: Omit<RuleSketch, 'key'>) {
  const time = { now: START };
  const clock = () => time.now;
  const counters = createMemoryCounters({ clock });
  const current = { current: rulesOf('d', [{ key: 'k', ...rule }]) };
  const decide = createDecider({ rules: current, counters, clock });
  const ask = async (entries: readonly string[], hits: number) => {
    const one = descriptor(['k=v', ...entries], { hits });
    const { answers } = await decide(request('d', [one]));
    return decisionOf(answers[0]).statuses[0];
  };
  return { time, ask, counters };
}

const LIMIT = 10;
const SLOTS = 3;
const LEASE = 25;

/** What a rule of 10 a minute and 3 in flight promises, in the plainest words: windows that are listed, holds that are summed. */
class Promise10 {
  readonly counted = new Map<number, number>();
  readonly open = new Map<string, { readonly hits: number; readonly end: number }>();

  begin(now: number): void {
    for (const [id, { hits, end }] of [...this.open]) {
      if (end > now) continue;
      this.open.delete(id);
      this.charge(Math.floor(end / 60), hits);
    }
  }

  charge(window: number, hits: number): void {
    this.counted.set(window, (this.counted.get(window) ?? 0) + hits);
  }

  free(now: number): number {
    const held = [...this.open.values()].reduce((sum, { hits }) => sum + hits, 0);
    return LIMIT - held - (this.counted.get(Math.floor(now / 60)) ?? 0);
  }

  ask(now: number, hits: number): boolean {
    if (hits === 0) return this.free(now) >= 0;
    const fits = hits <= this.free(now);
    if (fits) this.charge(Math.floor(now / 60), hits);
    return fits;
  }

  reserve(now: number, id: string, hits: number): boolean {
    if (this.open.has(id)) return true;
    if (this.open.size >= SLOTS || Math.max(1, hits) > this.free(now)) return false;
    this.open.set(id, { hits, end: now + LEASE });
    return true;
  }

  settle(now: number, id: string, hits: number): boolean {
    if (this.open.delete(id)) this.charge(Math.floor(now / 60), hits);
    return true;
  }
}

const hits = fc.integer({ min: 0, max: 12 });
const id = fc.constantFrom('a', 'b', 'c', 'd');
const step = fc.oneof(
  fc.record({ kind: fc.constant('ask' as const), hits }),
  fc.record({ kind: fc.constant('reserve' as const), id, hits }),
  fc.record({ kind: fc.constant('settle' as const), id, hits }),
  fc.record({ kind: fc.constant('wait' as const), seconds: fc.integer({ min: 1, max: 40 }) }),
);

type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

const ENDS_WITH_WINDOW: Step[] = [
  { kind: 'wait', seconds: 35 },
  { kind: 'reserve', id: 'a', hits: 1 },
  { kind: 'wait', seconds: 53 },
  { kind: 'ask', hits: 1 },
];

it('holds, charges, lapses and frees slots as its promise says, under every order and retry', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const rule = budgetOf([{ unit: 'MINUTE', requestsPerUnit: LIMIT }, inFlight(SLOTS)], {
        reserve: { leaseMs: LEASE * 1_000 },
      });
      const { time, ask, counters } = setUp(rule);
      const promise = new Promise10();
      for (const one of steps) {
        if (one.kind === 'wait') {
          time.now += one.seconds;
          continue;
        }
        promise.begin(time.now);
        const entries = one.kind === 'ask' ? [] : [`${one.kind}=${one.id}`];
        const status = await ask(entries, one.hits);
        const isAdmitted =
          one.kind === 'ask'
            ? promise.ask(time.now, one.hits)
            : promise[one.kind](time.now, one.id, one.hits);
        expect([one, status?.code]).toEqual([one, isAdmitted ? 'OK' : 'OVER_LIMIT']);
        const look = await ask([], 0);
        // Slots are told when they are nearer.
        if (look?.currentLimit?.unit === 'MINUTE')
          expect(look.limitRemaining).toBe(Math.max(0, promise.free(time.now)));
      }
      time.now += 3_600;
      await ask([], 0);
      expect(counters.liveKeys).toBe(0);
    }),
    // A lease that ends with the window is charged in the next one, and kept as long.
    { numRuns: 150, examples: [[ENDS_WITH_WINDOW]] },
  );
});

const seconds = { limit: 3, periodSeconds: 1 };
const minutes = { limit: 20, periodSeconds: 60 };
const others = [
  limiterOf({ name: 'gcra', ...minutes, burst: 6 }),
  limiterOf({ name: 'sliding_window', ...minutes }),
] as const;

it('admits what each of its limits would admit alone, and charges all of them or none', async () => {
  const asks = fc.array(
    fc.tuple(fc.integer({ min: 0, max: 7 }), fc.double({ min: 0, max: 9, noNaN: true })),
    {
      maxLength: 80,
    },
  );
  await fc.assert(
    fc.asyncProperty(asks, async (list) => {
      const { time, ask } = setUp(
        budgetOf([
          { unit: 'SECOND', requestsPerUnit: seconds.limit },
          { unit: 'MINUTE', requestsPerUnit: minutes.limit, burst: 6, algorithm: 'gcra' },
          { unit: 'MINUTE', requestsPerUnit: minutes.limit, algorithm: 'sliding_window' },
        ]),
      );
      const alone = others.map(() => new AlgorithmCounter());
      let window = { second: 0, used: 0 };
      for (const [wanted, waited] of list) {
        time.now = Math.round((time.now + waited) * 1_000) / 1_000;
        const second = Math.floor(time.now);
        if (second !== window.second) window = { second, used: 0 };
        const states = others.map((limiter, at) =>
          (alone[at] as AlgorithmCounter).stateAt(limiter, tickAt(time.now, limiter.tickMicros)),
        );
        const fits = others.map((limiter, at) => {
          const asked = { limiter, hits: wanted, times: 1, windowEndSeconds: 0 };
          return !limiter.kind.refuses(asked, states[at] as never) && wanted <= limiter.size;
        });
        const isAdmitted = window.used + wanted <= seconds.limit && fits.every(Boolean);
        expect((await ask([], wanted))?.code).toBe(isAdmitted ? 'OK' : 'OVER_LIMIT');
        if (!isAdmitted) continue;
        window.used += wanted;
        others.forEach((limiter, at) =>
          (alone[at] as AlgorithmCounter).apply(limiter, tickAt(time.now, limiter.tickMicros), {
            hits: wanted,
            times: 1,
          }),
        );
      }
    }),
    { numRuns: 150 },
  );
});
