import { createMemoryCounters } from '../../../src/counters/memory/create-memory-counters';
import { createOverLimitCache, type OverLimitCache } from '../../../src/counters/over-limit-cache';
import { withOverLimitCache } from '../../../src/counters/with-over-limit-cache';
import { StoreError } from '../../../src/core/errors';
import type { CounterBatch, Increment } from '../../../src/core/ports';
import { SOME_MATCH } from '../../support/rules';
import { runSteps } from '../../support/run-steps';
import { plain } from '../../support/limiters';

const NOW = 1_795_240_200;
const of = (key: string, more: Partial<Increment> = {}): Increment => ({
  key,
  hits: 1,
  ...plain(more.limit ?? 2),
  ttlSeconds: 60,
  windowEndSeconds: NOW + 60,
  ...SOME_MATCH,
  ...more,
});

const isKnown = (cache: OverLimitCache, ...asked: Parameters<OverLimitCache['refusing']>) =>
  cache.refusing(...asked) !== undefined;

function createCache(sizeBytes = 1_000_000) {
  const gauges = new Map<string, () => number>();
  const statistics = {
    gauge: (name: string, read: () => number) => {
      gauges.set(name.replace('ratelimit.localcache.', ''), read);
      return () => gauges.delete(name.replace('ratelimit.localcache.', ''));
    },
  };
  const cache = createOverLimitCache({ statistics }, { sizeBytes });
  return { cache, gauges, read: (name: string) => gauges.get(name)?.() };
}

describe('the cache', () => {
  it('shows an operator what it knows, and counts that as no lookup', async () => {
    const { cache, read } = createCache();
    cache.remember(of('a'), 1_000, NOW);
    cache.remember(of('b', { windowEndSeconds: NOW + 1 }), 1_000, NOW);
    expect([cache.knows(of('a'), NOW), cache.knows(of('a', { limit: 3 }), NOW)]).toEqual([
      true,
      false,
    ]);
    expect([cache.knows(of('c'), NOW), cache.knows(of('a'), NOW + 60)]).toEqual([false, false]);
    const listed = await runSteps(cache.list(NOW, 10));
    expect(listed.map(({ key }) => key)).toEqual(['a', 'b']);
    expect(await runSteps(cache.list(NOW, 1))).toHaveLength(1);
    expect(await runSteps(cache.list(NOW + 1, 10))).toEqual([
      { key: 'a', limit: 2, windowEndSeconds: NOW + 60 },
    ]);
    expect([read('lookupCount'), read('expiredCount')]).toEqual([0, 0]);
  });

  it('knows a counter until its window ends', () => {
    const { cache, read } = createCache();
    expect(isKnown(cache, of('a'), NOW)).toBe(false);
    cache.remember(of('a'), 1_000, NOW);
    expect(isKnown(cache, of('a'), NOW + 59.9)).toBe(true);
    expect(isKnown(cache, of('a'), NOW + 60)).toBe(false);
    expect([read('entryCount'), read('expiredCount')]).toEqual([0, 1]);
    expect([read('lookupCount'), read('hitCount'), read('missCount')]).toEqual([3, 1, 2]);
  });

  it.each([
    [2, true],
    [1, true],
    [3, false],
  ])('that is over 2 is over %d: %s', (limit, isOver) => {
    const { cache } = createCache();
    cache.remember(of('a'), 1_000, NOW);
    expect(isKnown(cache, of('a', { limit }), NOW)).toBe(isOver);
  });

  it('keeps the highest limit that was passed', () => {
    const { cache, read } = createCache();
    for (const limit of [2, 9, 4]) cache.remember(of('a', { limit }), 1_000, NOW);
    expect(isKnown(cache, of('a', { limit: 9 }), NOW)).toBe(true);
    expect([read('entryCount'), read('overwriteCount')]).toEqual([1, 2]);
  });

  it('knows a long key by its digest, which is what it takes', () => {
    const key = (end: string): string => `${'x'.repeat(60_000)}${end}`;
    const { cache, read } = createCache(2 * (120 + 2 * 43));
    for (const end of ['a', 'b']) cache.remember(of(key(end)), 1_000, NOW);
    expect(read('entryCount')).toBe(2);
    expect(['a', 'b', 'c'].map((end) => isKnown(cache, of(key(end)), NOW))).toEqual([
      true,
      true,
      false,
    ]);
    cache.forget(of(key('a')));
    expect([read('entryCount'), isKnown(cache, of(key('a')), NOW)]).toEqual([1, false]);
  });

  it('goes on dropping the oldest after a window was emptied and filled again', () => {
    const { cache, read } = createCache(2 * 122);
    for (const key of ['a', 'b', 'c']) cache.remember(of(key), 1_000, NOW);
    for (const key of ['b', 'c']) cache.forget(of(key));
    for (const key of ['d', 'e', 'f', 'g']) cache.remember(of(key), 1_000, NOW);
    const isOver = (key: string): boolean => isKnown(cache, of(key), NOW);
    expect(['a', 'b', 'c', 'd', 'e', 'f', 'g'].filter(isOver)).toEqual(['f', 'g']);
    expect(read('evacuateCount')).toBe(3);
  });

  it('forgets counters by their keys in every window, or all of them', () => {
    const { cache, read } = createCache();
    const later = { windowEndSeconds: NOW + 3_600 };
    for (const one of [of('a'), of('a', later), of('b'), of('k'.repeat(300))])
      cache.remember(one, 1_000, NOW);
    const { generation } = cache;
    cache.forgetKeys(['a', 'k'.repeat(300), 'unknown']);
    expect([of('a'), of('a', later), of('b')].map((one) => isKnown(cache, one, NOW))).toEqual([
      false,
      false,
      true,
    ]);
    expect(read('entryCount')).toBe(1);
    cache.forgetKeys(undefined);
    expect(read('entryCount')).toBe(0);
    expect(cache.generation).toBe(generation + 2);
  });

  it('remembers nothing of a window that has ended', () => {
    const { cache, read } = createCache();
    cache.remember(of('a'), 1_000, NOW + 61);
    expect(read('entryCount')).toBe(0);
  });

  it('stays within its bytes: the oldest of the window that ends soonest goes first', () => {
    const entry = 120 + 2;
    const { cache, read } = createCache(3 * entry);
    cache.remember(of('l', { windowEndSeconds: NOW + 3_600 }), 1_000, NOW);
    for (const key of ['a', 'b', 'c']) cache.remember(of(key), 1_000, NOW);
    const known = ['a', 'b', 'c'].map((key) => isKnown(cache, of(key), NOW));
    expect(known).toEqual([false, true, true]);
    expect(isKnown(cache, of('l', { windowEndSeconds: NOW + 3_600 }), NOW)).toBe(true);
    expect([read('entryCount'), read('evacuateCount')]).toEqual([3, 1]);
  });

  it('takes nothing that is larger than all of it', () => {
    const { cache, read } = createCache(200);
    cache.remember(of('k'.repeat(100)), 1_000, NOW);
    expect([read('entryCount'), read('evacuateCount')]).toEqual([0, 1]);
    expect(isKnown(cache, of('a'), NOW + 61)).toBe(false);
  });

  it('tells the average time of access, and takes its gauges away', () => {
    const { cache, gauges, read } = createCache();
    expect(read('averageAccessTime')).toBe(0);
    cache.remember(of('a'), 1_000, NOW);
    cache.remember(of('b'), 1_000, NOW + 2);
    isKnown(cache, of('a'), NOW + 4);
    expect(read('averageAccessTime')).toBe(NOW + 3);
    cache.close();
    expect(gauges.size).toBe(0);
  });
});

describe('counters with the cache', () => {
  function setUp(fail?: StoreError) {
    const store = createMemoryCounters({ clock: () => NOW });
    const batches: CounterBatch[] = [];
    const counters = withOverLimitCache(
      {
        add: (batch) => {
          batches.push(batch);
          return fail !== undefined && batches.length > 1 ? Promise.reject(fail) : store.add(batch);
        },
        close: () => store.close(),
      },
      createCache().cache,
    );
    const add = (increments: readonly Increment[], groupEnds?: readonly number[]) =>
      counters.add({ increments, groupEnds, nowSeconds: NOW });
    return { store, batches, counters, add };
  }

  it('do not ask for what is known to be over', async () => {
    const { add, batches, store, counters } = setUp();
    expect((await add([of('a', { hits: 3 })])).knownOverLimit).toBeUndefined();
    expect(await add([of('a'), of('a', { hits: 0 })])).toMatchObject({
      knownOverLimit: [true, true],
    });
    expect(batches).toHaveLength(1);
    expect(await add([of('b'), of('a'), of('c', { hits: 2 })])).toEqual({
      after: [1, 0, 2],
      held: undefined,
      failures: undefined,
      knownOverLimit: [false, true, false],
    });
    expect(store.read('a', NOW)?.value).toBe(3);
    await counters.close();
  });

  it('remember what goes over beside something known', async () => {
    const { add, batches } = setUp();
    await add([of('a', { hits: 3 })]);
    await add([of('a'), of('b', { hits: 3 })]);
    await add([of('b')]);
    expect(batches).toHaveLength(2);
  });

  it('ask again under a higher limit, and once hits were given back', async () => {
    const { add } = setUp();
    await add([of('a', { hits: 3 })]);
    expect(await add([of('a', { limit: 10 })])).toMatchObject({ after: [4] });
    expect(await add([of('a', { hits: -3 })])).toMatchObject({ after: [1] });
    expect(await add([of('a')])).toMatchObject({ after: [2] });
  });

  it('answer what is known while the store fails the rest', async () => {
    const error = new StoreError('store_timeout', 'away');
    const { add } = setUp(error);
    await add([of('a', { hits: 3 })]);
    const { knownOverLimit: known, failures } = await add([of('a'), of('b')]);
    expect(known).toEqual([true, false]);
    expect([...(failures ?? [])]).toEqual([[1, error]]);
    await expect(add([of('b')])).rejects.toBe(error);
  });

  it('hand on what is no error of a store', async () => {
    const { add } = setUp(new TypeError('ours') as unknown as StoreError);
    await add([of('a', { hits: 3 })]);
    await expect(add([of('a'), of('b')])).rejects.toThrow('ours');
  });

  it('hold back the rest of a run in which one is known to be over', async () => {
    const { add, batches, store } = setUp();
    await add([of('a', { hits: 3 }), of('b')], [1, 2]);
    const reply = await add([of('b'), of('a'), of('c'), of('b')], [2, 3, 4]);
    expect(reply.after).toEqual([1, 0, 1, 2]);
    expect(reply.held).toEqual([true, false, false, false]);
    expect(reply.knownOverLimit).toEqual([false, true, false, false]);
    expect(batches[1]?.groupEnds).toEqual([1, 2, 3]);
    expect(store.read('a', NOW)?.value).toBe(3);
  });

  it('ask nobody for runs that are known as a whole', async () => {
    const { add, batches } = setUp();
    await add([of('a', { hits: 3 })], [1]);
    expect(await add([of('a')], [1])).toMatchObject({ knownOverLimit: [true] });
    expect(batches).toHaveLength(1);
  });

  it('do not remember what a store said before they were told to forget', async () => {
    const { cache } = createCache();
    const store = createMemoryCounters({ clock: () => NOW });
    let forget: () => void = () => undefined;
    const counters = withOverLimitCache(
      {
        async add(batch) {
          const reply = await store.add(batch);
          forget();
          return reply;
        },
        close: () => store.close(),
      },
      cache,
    );
    const over = { increments: [of('a', { hits: 3 })], groupEnds: undefined, nowSeconds: NOW };
    forget = () => {
      cache.forgetKeys(['a']);
    };
    await counters.add(over);
    expect(isKnown(cache, of('a'), NOW)).toBe(false);
    forget = () => undefined;
    await counters.add(over);
    expect(isKnown(cache, of('a'), NOW)).toBe(true);
    await counters.close();
  });

  it.each([
    ['from over the limit back to it', 5, -3, ['a']],
    ['and leave it over', 5, -2, []],
    ['from below the limit', 2, -1, []],
  ])('tell once that hits were given back %s', async (_, before, hits, keys) => {
    const store = createMemoryCounters({ clock: () => NOW });
    const told: string[][] = [];
    const counters = withOverLimitCache(store, createCache().cache, {
      publishInvalidation: (all) => {
        told.push(all.map(({ key }) => key));
      },
    });
    const add = (increments: readonly Increment[]) =>
      counters.add({ increments, groupEnds: undefined, nowSeconds: NOW });
    await add([of('a', { hits: before })]);
    await add([of('a', { hits }), of('b', { hits: -1 })]);
    expect(told).toEqual(keys.length === 0 ? [] : [keys]);
    await counters.close();
  });
});
