import { limiterOf, type StateLimiter, plain } from '../../support/limiters';
import { type AlgorithmName } from '../../../src/core/kinds/kinds';
import { countAdmitted } from '../../../src/core/kinds/whole';
import type { Increment } from '../../../src/core/ports';
import { createMemoryCounters } from '../../../src/counters/memory/create-memory-counters';
import { SOME_MATCH } from '../../support/rules';

const NOW = 1_795_240_232.5;

const algorithm = (
  name: AlgorithmName,
  limit: number,
  periodSeconds: number,
  burst?: number,
): StateLimiter => limiterOf({ name, limit, burst, chargeDenied: false, periodSeconds });

const gcra = algorithm('gcra', 60, 60, 10);

function create(maxKeys = 1_000, maxBytes?: number) {
  let now = NOW;
  const bytes = maxBytes === undefined ? {} : { maxBytes };
  const counters = createMemoryCounters({ clock: () => now }, { maxKeys, ...bytes });
  const add = (increments: readonly Increment[], at = now) => {
    now = at;
    return counters.add({ increments, groupEnds: undefined, nowSeconds: at });
  };
  const admits = async (increment: Increment, at = now): Promise<boolean | undefined> => {
    const { states } = await add([increment], at);
    const state = states?.[0];
    const { limiter, hits } = increment;
    if (state === undefined) return undefined;
    return countAdmitted(limiter, state, { hits: Number(hits), times: 1 }) === 1;
  };
  return { counters, add, admits };
}

function hit(key: string, hits = 1, own: StateLimiter | 'none' = gcra): Increment {
  const windowEndSeconds = 1_795_240_260;
  const common = { key, hits, ...plain(10), ttlSeconds: 80, windowEndSeconds, ...SOME_MATCH };
  return own === 'none' ? common : { ...common, limiter: own };
}

const many = (count: number, name: string, hits = 1) =>
  Array.from({ length: count }, (_, index) => hit(`${name}_${String(index)}_60s~g`, hits));

describe('counters of algorithms in memory', () => {
  it('go when nothing of them is in use any more, a few with each batch', async () => {
    const { counters, add } = create();
    await add(many(100, 'a'));
    expect(counters.liveKeys).toBe(100);
    await add(many(10, 'b'), NOW + 1);
    expect(counters.liveKeys).toBe(110);
    await add(many(10, 'b'), NOW + 3);
    expect(counters.liveKeys).toBe(90);
    for (let batch = 0; batch < 10; batch += 1) await add(many(10, 'b'), NOW + 3);
    expect(counters.liveKeys).toBe(10);
  });

  it('go also when no batch comes', async () => {
    jest.useFakeTimers();
    let now = NOW;
    const counters = createMemoryCounters({ clock: () => now });
    await counters.add({ increments: many(500, 'a'), groupEnds: undefined, nowSeconds: NOW });
    now += 60;
    jest.advanceTimersByTime(1_000);
    expect(counters.liveKeys).toBe(0);
    await counters.close();
    jest.useRealTimers();
  });

  it('stay as long as they are hit, wherever they were filed first', async () => {
    const { counters, add, admits } = create();
    for (let second = 0; second < 120; second += 0.5) await add([hit('busy_60s~g')], NOW + second);
    expect(counters.liveKeys).toBe(1);
    expect(await admits(hit('busy_60s~g', 2), NOW + 119.5)).toBe(false);
    await add([], NOW + 300);
    await add([hit('other_60s~g')], NOW + 300);
    expect(counters.liveKeys).toBe(1);
  });

  it('go at once when all hits are given back', async () => {
    const { counters, add } = create();
    await add([hit('a_60s~g', 3)]);
    await add([hit('a_60s~g', -3), hit('b_60s~g', -3), hit('c_60s~g', 0), hit('d_60s~g', 11)]);
    expect(counters.liveKeys).toBe(0);
  });

  it('are evicted beside those of windows, the least used first', async () => {
    const { counters, add, admits } = create(4);
    await add([
      hit('full_60s~g', 10),
      hit('half_60s~g', 5),
      hit('low', 1, 'none'),
      hit('high', 9, 'none'),
    ]);
    await add([hit('new_60s~g')]);
    expect([...counters.entries(NOW)].map(([key]) => key)).toEqual(['high']);
    await add([hit('newer_60s~g', 8)]);
    expect(await admits(hit('new_60s~g', 10))).toBe(true);
    expect(counters.evictions).toBe(3);
    expect(await admits(hit('full_60s~g'))).toBe(false);
  });

  it('that are at their limit are never evicted: a new one is refused', async () => {
    const { add, counters } = create(2);
    await add([hit('a_60s~g', 10), hit('b_60s~g', 10)]);
    const reply = await add([hit('a_60s~g'), hit('c_60s~g')]);
    expect([...(reply.failures ?? [])]).toMatchObject([[1, { fault: 'key' }]]);
    expect(reply.states?.[1]).toBeUndefined();
    expect(counters.liveKeys).toBe(2);
  });

  it('are bounded in bytes too', async () => {
    const { add, counters } = create(1_000, 20_000);
    await add(many(500, 'a'));
    expect(counters.liveKeys).toBeGreaterThan(150);
    expect(counters.liveKeys).toBeLessThan(215);
  });

  it('are exact whatever is dropped meanwhile', async () => {
    const { add, admits } = create();
    const slow = algorithm('gcra', 10, 3_600);
    await add([hit('slow_3600s~g', 10, slow)]);
    for (let second = 1; second < 360; second += 7) await add(many(20, 'x'), NOW + second);
    expect(await admits(hit('slow_3600s~g', 1, slow), NOW + 359)).toBe(false);
    expect(await admits(hit('slow_3600s~g', 1, slow), NOW + 360)).toBe(true);
    expect(await admits(hit('slow_3600s~g', 1, slow), NOW + 361)).toBe(false);
  });

  it('forget nothing that a sliding window still counts', async () => {
    const { add, admits } = create();
    const sliding = algorithm('sliding_window', 100, 60);
    await add([hit('s_60s~s', 100, sliding)], 1_700_000_099);
    for (let second = 100; second < 107; second += 1)
      await add(many(20, 'x'), 1_700_000_000 + second);
    expect(await admits(hit('s_60s~s', 11, sliding), 1_700_000_105.9)).toBe(false);
    expect(await admits(hit('s_60s~s', 11, sliding), 1_700_000_106)).toBe(true);
  });
});
