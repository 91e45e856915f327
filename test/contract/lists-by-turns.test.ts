import fc from 'fast-check';
import type { LimitsFrom } from '../../src/core/ports';
import { compileRules } from '../../src/core/rules/compile';
import type { Rules } from '../../src/core/rules/rules';
import { createMemoryCounters } from '../../src/counters/memory/create-memory-counters';
import { budgetOf, type LimitSketch } from '../support/budgets';
import { startCounterInstance } from '../support/counter-instance';
import { createDecider, decisionOf, type DeciderDeps } from '../support/decider';
import { runRedisCounters, stopRedisCounters } from '../support/redis-counters';
import { describeWithStores, nearRedis, type NearRedis } from '../support/near-stores';
import { descriptor, request } from '../support/requests';
import { definitionsOf, type RuleSketch } from '../support/rules';

/** Lists of which other limits hold from request to request, on two instances: a limit keeps what it has counted while it rests. */

/** A minute and an hour begin there, no day. */
const START = 1_795_240_800;

type Counters = DeciderDeps['counters'];

let server: NearRedis;
let serial = 0;
beforeAll(async () => {
  server = await nearRedis(START);
});
afterAll(async () => {
  await stopRedisCounters();
  await server.client.quit();
});

const STORES: readonly (readonly [string, () => Promise<readonly [Counters, Counters]>])[] = [
  [
    'memory',
    () => {
      const counters = createMemoryCounters({ clock: () => START });
      return Promise.resolve([counters, counters]);
    },
  ],
  [
    'Redis',
    async () => {
      const both = [
        runRedisCounters({ address: server.address, timeoutMs: 10_000 }),
        runRedisCounters({ address: server.address, timeoutMs: 10_000 }),
      ] as const;
      for (const each of both) await each.untilConnected();
      return both;
    },
  ],
];

const rulesWith = (...sketches: readonly RuleSketch[]): Rules =>
  compileRules([{ domain: 'd', rules: definitionsOf(sketches) }]);

/** A rule that replaces limits and refuses nothing itself. */
const replacing = (key: string, ...names: readonly string[]): RuleSketch => ({
  key,
  limit: { requestsPerUnit: 1_000_000, unit: 'YEAR', replaces: names },
});

function instanceOf(rules: Rules, counters: Counters, limitsFrom?: LimitsFrom) {
  const decide = createDecider(
    { rules: { current: rules }, counters, clock: () => START },
    { limitsFrom },
  );
  /** Whether the first descriptor was admitted. */
  return async (...texts: readonly (string | readonly [readonly string[], number?])[]) => {
    const descriptors = texts.map((one) =>
      typeof one === 'string' ? descriptor(one) : descriptor(one[0], { hits: one[1] }),
    );
    const { answers } = await decide(request('d', descriptors));
    return decisionOf(answers[0]).statuses[0]?.code === 'OK';
  };
}

type Ask = ReturnType<typeof instanceOf>;

async function count(times: number, ask: () => Promise<boolean>): Promise<number> {
  let admitted = 0;
  for (let at = 0; at < times; at += 1) if (await ask()) admitted += 1;
  return admitted;
}

const moreOf = (isReserving: boolean) => (isReserving ? { reserve: {} } : {});

const user = (): string => `user=u${String((serial += 1))}`;

const short: LimitSketch = {
  name: 'short',
  unit: 'HOUR',
  requestsPerUnit: 5,
  algorithm: 'sliding_window',
};
const day: LimitSketch = { name: 'day', unit: 'DAY', requestsPerUnit: 1_000 };

interface Step {
  readonly mode: 'ask' | 'reserve' | 'settle';
  readonly hits: number;
  readonly id: string;
}

/** What each limit has counted, by its name, and what is held. */
class Model {
  readonly #counted = new Map<string, number>();
  readonly #open = new Map<string, number>();

  /** Whether the limits that take part admit it. */
  take({ mode, hits, id }: Step, limits: ReadonlyMap<string, number>): boolean {
    const own = this.#open.get(id);
    if (mode === 'settle') {
      this.#open.delete(id);
      if (own !== undefined) this.#charge(limits, hits);
      return true;
    }
    if (mode === 'reserve' && own !== undefined) return true;
    const held = [...this.#open.values()].reduce((sum, one) => sum + one, 0);
    const wanted = held + (mode === 'reserve' ? Math.max(1, hits) : hits);
    const fits = [...limits].every(
      ([name, size]) => (this.#counted.get(name) ?? 0) + wanted <= size,
    );
    if (fits && mode === 'reserve') this.#open.set(id, hits);
    else if (fits) this.#charge(limits, hits);
    return fits;
  }

  #charge(limits: ReadonlyMap<string, number>, hits: number): void {
    for (const name of limits.keys())
      this.#counted.set(name, (this.#counted.get(name) ?? 0) + hits);
  }
}

const ALL_MODES = ['ask', 'reserve', 'settle'] as const;

describeWithStores.each(STORES)('in %s', (_, start) => {
  let counters: readonly [Counters, Counters];
  beforeAll(async () => {
    counters = await start();
  });

  it('an entry that a value lifts for a while counts on where it stood', async () => {
    const lifted = { ...short, limitsFrom: { key: 'limits', refreshMs: 1_000 } };
    const rules = rulesWith({ key: 'user', ...budgetOf([lifted, day]) });
    let said: number | 'unlimited' | undefined;
    const limitsFrom: LimitsFrom = { limitOf: () => said, read: () => Promise.resolve() };
    const ask = instanceOf(rules, counters[0], limitsFrom);
    const ann = user();
    expect(await count(6, () => ask(ann))).toBe(5);
    for (let round = 0; round < 5; round += 1) {
      said = 'unlimited';
      expect(await count(3, () => ask(ann))).toBe(3);
      said = undefined;
      expect(await count(3, () => ask(ann))).toBe(0);
      said = 5;
      expect(await count(3, () => ask(ann))).toBe(0);
    }
    said = 7;
    expect(await count(4, () => ask(ann))).toBe(2);
  });

  it.each([false, true])(
    'each limit counts what it takes part in, whatever order and version, reserving: %j',
    async (isReserving) => {
      const limits = {
        a: { unit: 'HOUR', algorithm: 'sliding_window' },
        b: { unit: 'YEAR', algorithm: 'gcra' },
        c: { unit: 'DAY' },
        d: { unit: 'WEEK', algorithm: 'sliding_window' },
        e: { unit: 'YEAR' },
        f: { unit: 'DAY', algorithm: 'gcra', unitMultiplier: 300 },
      } as const;
      type Name = keyof typeof limits;
      const names = Object.keys(limits) as Name[];
      const versionOf = fc.record({
        order: fc.shuffledSubarray(names, { minLength: 1 }),
        sizes: fc.record(
          Object.fromEntries(
            names.map((name) => [
              name,
              // One kind counts windows of d, in whatever version.
              name === 'd' ? fc.integer({ min: 65, max: 80 }) : fc.integer({ min: 1, max: 25 }),
            ]),
          ) as Record<Name, fc.Arbitrary<number>>,
        ),
      });
      const modes = isReserving ? ALL_MODES : (['ask'] as const);
      const steps = fc.array(
        fc.record({
          version: fc.nat(1),
          hits: fc.integer({ min: 0, max: 9 }),
          replaced: fc.subarray(names),
          mode: fc.constantFrom(...modes),
          id: fc.constantFrom('x', 'y', 'z'),
        }),
        { minLength: 5, maxLength: 30 },
      );
      await fc.assert(
        fc.asyncProperty(fc.tuple(versionOf, versionOf), steps, async (versions, all) => {
          const asks = versions.map(({ order, sizes }, at): Ask => {
            const list = order.map((name): LimitSketch => ({
              ...limits[name],
              name,
              requestsPerUnit: sizes[name],
            }));
            const rules = rulesWith(
              { key: 'user', ...budgetOf(list, moreOf(isReserving)) },
              ...names.map((name) => replacing(`no_${name}`, name)),
            );
            return instanceOf(rules, counters[at as 0 | 1]);
          });
          const model = new Model();
          const ann = user();
          for (const step of all) {
            const { order, sizes } = versions[step.version] as (typeof versions)[0];
            const awake = order.filter((name) => !step.replaced.includes(name));
            if (awake.length === 0) continue;
            const { mode, hits, replaced } = step;
            const texts = mode === 'ask' ? [ann] : [ann, `${mode}=${step.id}`];
            const others = replaced.map((name) => `no_${name}=1`);
            const isAdmitted = await (asks[step.version] as Ask)([texts, hits], ...others);
            expect(isAdmitted).toBe(model.take(step, new Map(awake.map((n) => [n, sizes[n]]))));
          }
        }),
        { numRuns: 100 },
      );
    },
  );
});

describeWithStores('two databases', () => {
  it('a list of which the longest limit is replaced stays in its store', async () => {
    const perSecond = await nearRedis(START, 1);
    const rules = rulesWith(
      {
        key: 'user',
        ...budgetOf([
          { name: 'burst', unit: 'SECOND', requestsPerUnit: 9_000 },
          { name: 'long', unit: 'HOUR', requestsPerUnit: 5 },
        ]),
      },
      { key: 'vip', limit: { requestsPerUnit: 9_000, unit: 'DAY', replaces: ['long'] } },
      { key: 'slow', limit: { requestsPerUnit: 9_000, unit: 'DAY', replaces: ['burst'] } },
    );
    const { store, stop } = await startCounterInstance(
      rules,
      {
        KVSTORE_TIMEOUT: '10s',
        KVSTORE_URL: `127.0.0.1:${String(server.port)}`,
        KVSTORE_PERSECOND: 'true',
        KVSTORE_PERSECOND_URL: `redis://127.0.0.1:${String(server.port)}/1`,
      },
      { clock: () => START, monotonicMs: () => 0, random: () => 0.5 },
    );
    try {
      const ask = instanceOf(rules, store.counters);
      const ann = user();
      for (let round = 0; round < 4; round += 1) {
        expect(await count(3, () => ask(ann, 'vip=x'))).toBe(3);
        expect(await count(2, () => ask(ann))).toBe(round < 2 ? 2 : 0);
        await ask(ann, 'slow=x');
      }
      expect(await perSecond.client.dbsize()).toBe(0);
    } finally {
      await stop();
      await perSecond.client.quit();
    }
  });
});
