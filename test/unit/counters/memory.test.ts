import { StoreError } from '../../../src/core/errors';
import type { Increment } from '../../../src/core/ports';
import { createMemoryCounters } from '../../../src/counters/memory/create-memory-counters';
import { SOME_MATCH } from '../../support/rules';
import { plain } from '../../support/limiters';

const NOW = 1_795_240_232.5;

function create(maxKeys?: number, maxBytes?: number) {
  const counts = new Map<string, number>();
  const gauges = new Map<string, () => number>();
  let nowSeconds = NOW;
  const counters = createMemoryCounters(
    {
      clock: () => nowSeconds,
      statistics: {
        count: (name, by) => counts.set(name, (counts.get(name) ?? 0) + by),
        gauge: (name, read) => {
          gauges.set(name, read);
          return () => gauges.delete(name);
        },
      },
    },
    {
      ...(maxKeys === undefined ? {} : { maxKeys }),
      ...(maxBytes === undefined ? {} : { maxBytes }),
    },
  );
  const add = (increments: readonly Increment[], atSeconds = NOW) =>
    counters.add({ increments, groupEnds: undefined, nowSeconds: atSeconds });
  return {
    counters,
    counts,
    gauges,
    add,
    setClock: (seconds: number) => {
      nowSeconds = seconds;
    },
    keys: () => [...counters.entries(NOW)].map(([key]) => key).sort(),
  };
}

function hit(key: string, hits = 1, more: Partial<Increment> = {}): Increment {
  const windowEndSeconds = 1_795_240_260;
  return {
    key,
    hits,
    ...plain(more.limit ?? 10),
    ttlSeconds: 80,
    windowEndSeconds,
    ...SOME_MATCH,
    ...more,
  };
}

describe('windows', () => {
  it('are dropped when they end, with all their counters', async () => {
    const { add, counters, keys } = create();
    await add([hit('soon'), hit('soon too'), hit('later', 1, { windowEndSeconds: 1_795_240_300 })]);
    await add([], 1_795_240_259.9);
    expect(counters.liveKeys).toBe(3);
    await add([], 1_795_240_260);
    expect(keys()).toEqual(['later']);
    expect(counters.liveKeys).toBe(1);
  });

  it('that have ended leave nothing to the counters of the next', async () => {
    const { add } = create();
    await add([hit('key', 5)]);
    const next = hit('key', 1, { windowEndSeconds: 1_795_240_320 });
    expect((await add([next], 1_795_240_261)).after).toEqual([1]);
  });

  it('are dropped also when no batch comes any more', async () => {
    jest.useFakeTimers();
    const { add, counters, setClock } = create();
    await add([hit('key')]);
    jest.advanceTimersByTime(5_000);
    expect(counters.liveKeys).toBe(1);
    setClock(1_795_240_260);
    jest.advanceTimersByTime(1_000);
    expect(counters.liveKeys).toBe(0);
    await counters.close();
    expect(jest.getTimerCount()).toBe(0);
    jest.useRealTimers();
  });
});

describe('a counter', () => {
  it('tells the time for which a store would keep it', async () => {
    const { add, counters } = create();
    await add([hit('key')]);
    expect(counters.read('key', NOW)).toEqual({ value: 1, ttlSeconds: 80.5 });
    expect(counters.read('key', NOW + 20)?.ttlSeconds).toBe(60.5);
    expect(counters.read('none', NOW)).toBeUndefined();
  });
});

describe('the cap on live keys', () => {
  it('is kept by forgetting the counter with the least used share', async () => {
    const { add, keys, counters, counts } = create(3);
    await add([hit('nearly full', 9), hit('half', 5), hit('a little', 3)]);
    await add([hit('new one', 6)]);
    expect(keys()).toEqual(['half', 'nearly full', 'new one']);
    await add([hit('another', 8)]);
    expect(keys()).toEqual(['another', 'nearly full', 'new one']);
    expect([counters.liveKeys, counters.evictions]).toEqual([3, 2]);
    expect(counts.get('ratelimit.memory.evictions')).toBe(2);
  });

  it('forgets, of equal shares, what ends soonest and then what is oldest', async () => {
    const { add, keys } = create(3);
    const later = { windowEndSeconds: 1_795_243_800 };
    await add([hit('later', 1, later), hit('first'), hit('second')]);
    await add([hit('new one', 9)]);
    expect(keys()).toEqual(['later', 'new one', 'second']);
    await add([hit('newer', 9)]);
    await add([hit('newest', 9)]);
    expect(keys()).toEqual(['new one', 'newer', 'newest']);
  });

  it('never forgets a counter that has reached its limit', async () => {
    const { add, keys } = create(3);
    await add([hit('at its limit', 10), hit('over', 11), hit('under', 9)]);
    await add([hit('b', 1)]);
    await add([hit('c', 1)]);
    expect(keys()).toEqual(['at its limit', 'c', 'over']);
  });

  it('refuses a new key when all have reached their limit, and nothing else', async () => {
    const { add, counts } = create(2);
    await add([hit('a', 10), hit('b', 10)]);
    const { after, failures } = await add([hit('new'), hit('a')]);
    expect(after).toEqual([0, 11]);
    expect(failures?.get(0)).toBeInstanceOf(StoreError);
    expect(failures?.get(0)?.message).toBe(
      'the memory counters are full: 2 keys, all at their limit',
    );
    await expect(add([hit('new')])).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(counts.get('ratelimit.memory.refused')).toBe(2);
  });

  it('takes new keys again when hits are given back or a limit is raised', async () => {
    const { add, keys } = create(2);
    await add([hit('a', 10), hit('b', 10)]);
    await add([hit('a', -1)]);
    await add([hit('c', 10)]);
    expect(keys()).toEqual(['b', 'c']);
    await add([hit('b', 0, { limit: 100 })]);
    await add([hit('d', 10)]);
    expect(keys()).toEqual(['c', 'd']);
  });

  it('forgets counters of a limit of 0, which is over without them', async () => {
    const { add, keys } = create(1);
    await add([hit('forbidden', 3, { limit: 0 })]);
    await add([hit('new')]);
    expect(keys()).toEqual(['new']);
  });

  it('makes room for new keys when a window ends', async () => {
    const { add } = create(1);
    await add([hit('a', 10)]);
    const next = hit('b', 1, { windowEndSeconds: 1_795_240_320 });
    expect((await add([next], 1_795_240_260)).after).toEqual([1]);
  });

  it('is shown by a gauge that goes away with the counters', async () => {
    const { add, gauges, counters } = create();
    await add([hit('a'), hit('b')]);
    expect(gauges.get('ratelimit.memory.live_keys')?.()).toBe(2);
    await counters.close();
    expect(gauges.size).toBe(0);
  });
});

describe('the cap on bytes', () => {
  const long = (name: string): string => name.padEnd(100, 'x');
  /** Room for one of these, and for no short one beside it. */
  const ofLong = 400;

  it('makes room for a new key as that on keys does, by as many counters as it takes', async () => {
    const { add, counts, counters, keys } = create(undefined, 460);
    await add([hit('a'), hit('b'), hit('c')]);
    await add([hit(long('d'))]);
    expect(keys()).toEqual(['c', long('d')]);
    expect(counts.get('ratelimit.memory.evictions')).toBe(2);
    expect(counters.evictions).toBe(2);
  });

  it('refuses a new key when all counters have reached their limit, and counts those on', async () => {
    const { add, counts } = create(undefined, ofLong);
    await add([hit(long('full'), 10)]);
    const { after, failures } = await add([hit('new'), hit(long('full'))]);
    expect(after).toEqual([0, 11]);
    expect(failures?.get(0)).toMatchObject({
      fault: 'key',
      message: 'the memory counters are full: 1 keys, all at their limit',
      forCaller: 'the memory counters are full: 1 keys, all at their limit',
    });
    expect(counts.get('ratelimit.memory.refused')).toBe(1);
  });

  it('is free again when windows end and after counters are evicted', async () => {
    const { add, keys } = create(undefined, ofLong);
    for (const name of ['a', 'b', 'c']) await add([hit(long(name))]);
    expect(keys()).toEqual([long('c')]);
    await add([hit(long('full'), 10, { windowEndSeconds: 1_795_240_260 })]);
    const later = { windowEndSeconds: 1_795_240_320 };
    const { failures } = await add([hit(long('new'), 1, later)], 1_795_240_260);
    expect(failures).toBeUndefined();
    expect(keys()).toEqual([long('new')]);
  });

  it('is the same after any number of windows', async () => {
    const { add, counts } = create(undefined, ofLong);
    for (let window = 0; window < 2_000; window += 1) {
      const windowEndSeconds = NOW + 60 * (window + 1);
      await add([hit(long(String(window)), 10, { windowEndSeconds })], windowEndSeconds - 1);
    }
    expect(counts.get('ratelimit.memory.evictions')).toBeUndefined();
    const { failures } = await add([hit('a'), hit('b')], NOW + 60 * 2_000);
    expect(failures).toBeUndefined();
    expect(counts.get('ratelimit.memory.evictions')).toBeUndefined();
  });

  it('counts a long key as its digest, exactly', async () => {
    const { add, counters, keys } = create(undefined, 500);
    const key = (user: string): string => `shop_${user}_${'x'.repeat(60_000)}_1795240200`;
    for (const user of ['ann', 'bob', 'ann']) await add([hit(key(user))]);
    expect(counters.read(key('ann'), NOW)?.value).toBe(2);
    expect(counters.read(key('bob'), NOW)?.value).toBe(1);
    expect(keys().map(({ length }) => length)).toEqual([43, 43]);
  });
});
