import { counterStates, limiterOf, type StateLimiter, nameOf, plain } from '../../support/limiters';
import fc from 'fast-check';
import { type AlgorithmName } from '../../../src/core/kinds/kinds';
import { tickAt } from '../../../src/core/kinds/ticks';
import { outcomeOf } from '../../../src/core/kinds/whole';
import { type CounterState } from '../../../src/core/kinds/kind';
import type { CounterBatch, Counters, Increment } from '../../../src/core/ports';
import { createOverLimitCache } from '../../../src/counters/over-limit-cache';
import { withOverLimitCache } from '../../../src/counters/with-over-limit-cache';
import { MOVES, play, rules } from '../../support/algorithm-arbitraries';
import { AlgorithmCounter } from '../../support/algorithm-counter';
import { SOME_MATCH } from '../../support/rules';
import { runSteps } from '../../support/run-steps';

const NOW = 1_795_240_200;
const YEAR_SECONDS = 31_536_000;

function rule(name: AlgorithmName, more: { chargeDenied?: boolean; burst?: number } = {}) {
  const { chargeDenied = false, burst } = more;
  const definition = { name, limit: 10, burst, chargeDenied, periodSeconds: 60 };
  return limiterOf(definition);
}

function ask(algorithm: StateLimiter, hits: number | bigint = 1, times = 1): Increment {
  const window = { limit: algorithm.limit, ttlSeconds: 60, windowEndSeconds: NOW + 1_000_000_000 };
  return {
    key: `of ${nameOf(algorithm)}`,
    hits,
    times,
    limiter: algorithm,
    ...window,
    ...SOME_MATCH,
  };
}

/** A store that counts by algorithms, and how many increments it was asked. */
function createStore() {
  const counters = new Map<string, AlgorithmCounter>();
  const store = { asked: 0, looks: 0 };
  const add: Counters['add'] = ({ increments, nowSeconds }) => {
    store.asked += increments.length;
    const states = increments.map(({ key, limiter, hits, times }) => {
      if (!limiter.kind.readsFirst) return undefined;
      if (hits === 0) store.looks += 1;
      const counter = counters.get(key) ?? new AlgorithmCounter();
      counters.set(key, counter);
      const tick = tickAt(nowSeconds, limiter.tickMicros);
      return counter.apply(limiter as StateLimiter, tick, { hits: Number(hits), times });
    });
    const after = increments.map(({ limiter }) => (limiter.kind.readsFirst ? 0 : 3));
    return Promise.resolve({ after, held: undefined, failures: undefined, states });
  };
  return Object.assign(store, { add, close: () => Promise.resolve() });
}

function createCached(sizeBytes = 1_000_000) {
  const gauges = new Map<string, () => number>();
  const statistics = {
    gauge: (name: string, read: () => number) => {
      gauges.set(name.replace('ratelimit.localcache.', ''), read);
      return () => undefined;
    },
  };
  const store = createStore();
  const cache = createOverLimitCache({ statistics }, { sizeBytes });
  const counters = withOverLimitCache(store, cache);
  const add = (increments: readonly Increment[], seconds = 0, groupEnds?: readonly number[]) =>
    counters.add({ increments, groupEnds, nowSeconds: NOW + seconds } satisfies CounterBatch);
  return { store, cache, add, read: (name: string) => gauges.get(name)?.() };
}

describe.each(['gcra', 'sliding_window', 'fixed_window'] as const)(
  'the local cache under %s',
  (name) => {
    it('changes no figure of any answer', async () => {
      await fc.assert(
        fc.asyncProperty(rules(name), MOVES, async (any, moves) => {
          const [plain, cached] = [createStore(), createCached()];
          const start = tickAt(NOW, any.tickMicros);
          for (const { tick, hits, times } of play(any, moves, start)) {
            const batch = [ask(any, hits, times)];
            const seconds = Math.ceil(((tick - start) * any.tickMicros) / 1_000) / 1_000;
            const nowSeconds = NOW + seconds;
            const [expected, reply] = await Promise.all([
              plain.add({ increments: batch, groupEnds: undefined, nowSeconds }),
              cached.add(batch, seconds),
            ]);
            const outcomes = [expected, reply].map(({ states }) =>
              outcomeOf(any, states?.[0] as CounterState, { hits, times }, times),
            );
            expect(outcomes[1]).toEqual(outcomes[0]);
          }
          expect(cached.store.asked).toBeLessThanOrEqual(plain.asked);
        }),
      );
    });

    it('answers what was refused before, and lets smaller asks and looks through', async () => {
      const { store, add, read } = createCached();
      const algorithm = rule(name);
      await add([ask(algorithm, 8)]);
      await add([ask(algorithm, 5)]);
      expect(store.asked).toBe(2);
      const refused = await add([ask(algorithm, 5), ask(algorithm, 3, 4), ask(algorithm, 99n)]);
      expect(refused.knownOverLimit).toEqual([true, true, true]);
      expect(counterStates(refused.states)?.map((state) => state?.used)).toEqual(
        Array(3).fill(counterStates(refused.states)?.[0]?.used),
      );
      expect(store.asked).toBe(2);
      expect((await add([ask(algorithm, 2)])).knownOverLimit).toBeUndefined();
      expect((await add([ask(algorithm, 0)])).knownOverLimit).toBeUndefined();
      expect(store.asked).toBe(4);
      // What it had of the counter is no longer all.
      expect([read('entryCount'), read('hitCount')]).toEqual([0, 3]);
    });

    it('says to an operator what it would refuse, and counts that as no lookup', async () => {
      const { cache, add, read } = createCached();
      const algorithm = rule(name);
      await add([ask(algorithm, 8)]);
      await add([ask(algorithm, 5)]);
      const lookups = read('lookupCount');
      const knows = (hits: number) => cache.knows(ask(algorithm, hits), NOW);
      expect([knows(5), knows(2), knows(0)]).toEqual([true, false, false]);
      cache.forgetKeys([ask(algorithm).key]);
      expect(knows(5)).toBe(false);
      expect(read('lookupCount')).toBe(lookups);
    });

    it('forgets a counter to which hits are given back', async () => {
      const { store, add, read } = createCached();
      const algorithm = rule(name);
      await add([ask(algorithm, 1, 12)]);
      expect((await add([ask(algorithm)])).knownOverLimit).toEqual([true]);
      await add([ask(algorithm, -1)]);
      expect(read('entryCount')).toBe(0);
      expect((await add([ask(algorithm)])).knownOverLimit).toBeUndefined();
      expect(store.asked).toBe(3);
    });

    it('holds back the others of a request in which one is known', async () => {
      const { store, add } = createCached();
      const algorithm = rule(name);
      await add([ask(algorithm, 11)]);
      const common = { ...ask(algorithm), key: 'plain', ...plain(10) };
      const other = { ...ask(algorithm), key: 'other' };
      const reply = await add([ask(algorithm, 11), common, other], 0, [3]);
      expect(reply.knownOverLimit).toEqual([true, false, false]);
      expect(reply.held).toEqual([false, true, true]);
      expect(counterStates(reply.states)?.[2]?.used).toBe(0);
      expect([store.asked, store.looks]).toEqual([3, 1]);
    });
  },
);

describe('the local cache', () => {
  it.each(['gcra', 'sliding_window'] as const)(
    'keeps no counter of %s that charges what it refuses: it would lose charges',
    async (name) => {
      const { store, add } = createCached();
      for (let round = 0; round < 3; round += 1)
        await add([ask(rule(name, { chargeDenied: true }), 11)]);
      expect(store.asked).toBe(3);
    },
  );

  it('drops a counter once the ask would fit that it refused', async () => {
    const { store, add, read } = createCached();
    const bucket = rule('gcra');
    await add([ask(bucket, 1, 11)]);
    expect((await add([ask(bucket)], 5.999)).knownOverLimit).toEqual([true]);
    expect((await add([ask(bucket)], 6)).knownOverLimit).toBeUndefined();
    expect([store.asked, read('expiredCount')]).toEqual([2, 1]);
  });

  it('asks the store when the clock went back', async () => {
    const { store, add } = createCached();
    const bucket = rule('gcra');
    await add([ask(bucket, 1, 11)]);
    await add([ask(bucket)], -1);
    expect(store.asked).toBe(2);
  });

  it('keeps two kinds of one counter apart: the one may be over, the other not', async () => {
    const { store, add } = createCached();
    const guarded = ask(rule('fixed_window'), 11);
    const common = { ...guarded, hits: 1, ...plain(10) };
    await add([guarded]);
    expect((await add([common])).knownOverLimit).toBeUndefined();
    expect((await add([{ ...common, ...plain(2) }])).knownOverLimit).toBeUndefined();
    expect((await add([{ ...common, ...plain(2) }])).knownOverLimit).toEqual([true]);
    expect((await add([{ ...guarded, hits: -1 }])).knownOverLimit).toBeUndefined();
    expect((await add([{ ...common, ...plain(2) }])).knownOverLimit).toEqual([true]);
    expect(store.asked).toBe(4);
  });

  it('stays within its bytes, however many counters refuse', async () => {
    const { add, read } = createCached(10_000);
    const bucket = rule('gcra');
    for (let at = 0; at < 500; at += 1)
      await add([{ ...ask(bucket, 11), key: `key ${String(at)}` }]);
    expect(read('entryCount')).toBeGreaterThan(10);
    expect(read('entryCount')).toBeLessThan(40);
    expect(read('evacuateCount')).toBe(500 - (read('entryCount') ?? 0));
  });

  it('lets go of 200,000 counters that each end at a second of their own', () => {
    const { cache, read } = createCached(100_000_000);
    const count = 200_000;
    const slow = limiterOf({
      name: 'gcra',
      limit: 1_000_000,
      burst: undefined,
      chargeDenied: false,
      periodSeconds: YEAR_SECONDS,
    });
    const full = slow.kind.ofHits(slow, slow.limit, 0);
    for (let hits = 1; hits <= count; hits += 1)
      cache.remember({ ...ask(slow, hits), key: `key ${String(hits)}` }, full, NOW);
    expect(read('entryCount')).toBe(count);
    for (let share = 0; share <= 1; share += 0.01)
      cache.refusing(ask(slow), NOW + share * YEAR_SECONDS);
    expect([read('entryCount'), read('expiredCount')]).toEqual([0, count]);
  });
});

it('lists for operators the key of a counter that refuses, until the ask that it refused fits', async () => {
  const { cache } = createCached();
  for (const name of ['gcra', 'sliding_window'] as const) {
    const algorithm = rule(name);
    const full = algorithm.kind.ofHits(algorithm, 10, tickAt(NOW, algorithm.tickMicros));
    cache.remember(ask(algorithm), full, NOW);
  }
  const listed = await runSteps(cache.list(NOW, 10));
  expect(listed.map(({ key, limit }) => [key, limit]).sort()).toEqual([
    ['of gcra', 10],
    ['of sliding_window', 10],
  ]);
  // At 10 hits a minute gcra admits one after 6 s.
  expect((await runSteps(cache.list(NOW + 6, 10))).map(({ key }) => key)).toEqual([
    'of sliding_window',
  ]);
  expect(await runSteps(cache.list(NOW + 120, 10))).toEqual([]);
});
