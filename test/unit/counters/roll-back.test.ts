import fc from 'fast-check';
import type { BudgetState, Reservation } from '../../../src/core/kinds/kind';
import type { CounterReply, Increment } from '../../../src/core/ports';
import {
  createMemoryCounters,
  type MemoryCounters,
} from '../../../src/counters/memory/create-memory-counters';
import { addSplit, type SplitOptions } from '../../../src/counters/split';
import { budgetEntry, budgetLimiterOf } from '../../support/budget-arbitraries';
import { limiterOf } from '../../support/limiters';
import { increment } from '../../support/increments';

const NOW = 1_795_240_200;
const LIMIT = 3;
const SLOTS = 2;

const window = budgetEntry({
  ...{ sort: 'window', limit: LIMIT, burst: LIMIT, periodSeconds: 3_600, chargeDenied: false },
});
const slots = budgetEntry({
  ...{ sort: 'slots', limit: SLOTS, burst: SLOTS, periodSeconds: 1, chargeDenied: false },
});
const budget = { blocks: [], isForced: false, isShadow: false } as const;
const LIST = budgetLimiterOf({ ...budget, entries: [window] });
const HELD = budgetLimiterOf({
  ...{ ...budget, entries: [window, slots], reserve: { leaseMs: 60_000, isReleased: false } },
});
const PACED = limiterOf({ name: 'gcra', limit: LIMIT, periodSeconds: 3_600 });
const PLAIN = limiterOf({
  name: 'fixed_window',
  limit: LIMIT,
  periodSeconds: 3_600,
  chargeDenied: false,
});

const of = (key: string, limiter: Increment['limiter'], reservation?: Reservation): Increment =>
  increment(key, 1, { limiter, limit: LIMIT, windowEndSeconds: NOW + 3_600, reservation });
const held = (id: string): Increment => of('held', HELD, { mode: 'reserve', id, saysHits: true });
const LISTED = of('list', LIST);
const GCRA = of('gcra', PACED);
const FIXED = of('fixed', PLAIN);

/** Three nodes; a call to them waits until it is let through. */
const NODES: Readonly<Record<string, number>> = { list: 0, gcra: 1, fixed: 2, held: 2 };
function setUp() {
  const parts = ['first', 'second', 'third'].map(() => createMemoryCounters({ clock: () => NOW }));
  const waiting: (() => void)[] = [];
  const through = <T>(act: () => Promise<T>): Promise<T> =>
    new Promise<void>((resolve) => waiting.push(resolve)).then(act);
  const options: SplitOptions<MemoryCounters> = {
    add: (part, batch) => through(() => part.add(batch)),
    read: (part, keys) =>
      through(() =>
        Promise.resolve(new Map(keys.map((key) => [key, Number(part.read(key, NOW)?.value ?? 0)]))),
      ),
    parallelism: 0,
    onNotAtomic: () => undefined,
  };
  /** One request, of which the counters lie on different nodes. */
  const ask = (increments: readonly Increment[]) =>
    addSplit(
      { increments, groupEnds: [increments.length], nowSeconds: NOW },
      ({ key }) => parts[NODES[key] ?? 0] as MemoryCounters,
      options,
    );
  /** Lets calls through, one after the other, as the choices say, until none is left. */
  const run = async (choices: readonly number[]): Promise<void> => {
    for (let step = 0; ; step += 1) {
      for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
      if (waiting.length === 0) return;
      const [next] = waiting.splice((choices[step % choices.length] ?? 0) % waiting.length, 1);
      next?.();
    }
  };
  const openOf = ({ key, limiter }: Increment): number => {
    const states = parts.map(
      (part) => part.read(key, NOW, limiter)?.state as BudgetState | undefined,
    );
    return states.find((state) => state !== undefined)?.open ?? 0;
  };
  const countOf = (one: Increment): number =>
    Math.max(...parts.map((part) => Number(part.read(one.key, NOW, one.limiter)?.value ?? 0)));
  return { ask, run, openOf, countOf };
}

/** Of a request: admitted, refused, or charged to nobody since another counter refused. */
const isAdmitted = (increments: readonly Increment[], reply: CounterReply): boolean => {
  expect(reply.failures).toBeUndefined();
  return increments.every(
    (one, at) =>
      reply.held?.[at] !== true && !one.limiter.kind.refuses(one, reply.states?.[at] as never),
  );
};

describe('requests whose counters lie on several nodes, charged together', () => {
  it('take back what they charged where another came between the look and the charge', async () => {
    const { ask, run, countOf } = setUp();
    const first = ask([LISTED, GCRA]);
    // Both look at the counters while one hit is left for them.
    await Promise.all([ask([LISTED, GCRA]), ask([LISTED, GCRA]), run([0])]);
    const [one] = await Promise.all([first, run([0])]);
    expect(isAdmitted([LISTED, GCRA], one)).toBe(true);
    const racing = [ask([LISTED, FIXED]), ask([GCRA, held('a')])];
    await run([1]);
    const replies = await Promise.all(racing);
    expect(replies.map((reply) => reply.failures)).toEqual([undefined, undefined]);
    expect([countOf(LISTED), countOf(GCRA)]).toEqual([LIMIT, LIMIT]);
    // The other counters of both requests were charged nothing.
    expect([countOf(FIXED), countOf(held('a'))]).toEqual([0, 0]);
  });

  it('admit no more than each limit, and leave no charge of a refused one, in whatever order', async () => {
    const pairs: readonly (readonly Increment[])[] = [
      [LISTED, GCRA],
      [GCRA, LISTED],
      [FIXED, LISTED],
    ];
    const request = fc.integer({ min: 0, max: pairs.length + 1 });
    const order = fc.array(fc.nat({ max: 9 }), { minLength: 1, maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(request, { minLength: 2, maxLength: 8 }),
        order,
        async (asked, choices) => {
          const { ask, run, countOf, openOf } = setUp();
          const requests = asked.map((at, serial) => pairs[at] ?? [LISTED, held(String(serial))]);
          const answers = requests.map((one) => ask(one));
          await run(choices);
          const replies = await Promise.all(answers);
          const admitted = requests.filter((one, at) =>
            isAdmitted(one, replies[at] as CounterReply),
          );
          for (const one of [LISTED, GCRA, FIXED]) {
            const mine = admitted.filter((each) => each.some(({ key }) => key === one.key));
            expect([one.key, countOf(one)]).toEqual([one.key, mine.length]);
            expect(mine.length).toBeLessThanOrEqual(LIMIT);
          }
          const slotsTaken = admitted.filter((each) => each.some(({ key }) => key === 'held'));
          expect(openOf(held('x'))).toBe(slotsTaken.length);
          expect(slotsTaken.length).toBeLessThanOrEqual(SLOTS);
        },
      ),
      { numRuns: 300 },
    );
  });
});
