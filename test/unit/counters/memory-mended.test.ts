import type { Limiter, Reservation } from '../../../src/core/kinds/kind';
import { createMemoryCounters } from '../../../src/counters/memory/create-memory-counters';
import { budgetEntry, budgetLimiterOf } from '../../support/budget-arbitraries';
import { limiterOf } from '../../support/limiters';
import { increment } from '../../support/increments';

/** Counters that a clock wrote which was ahead are counted as mended, as those in Redis are. */

const NOW = 1_795_240_200;
const AHEAD = 400 * 86_400;
const MENDED = 'ratelimit.memory.counters_mended';

const rolling = { limit: 10, burst: 10, periodSeconds: 3_600, chargeDenied: false } as const;
const gcra = budgetEntry({ ...rolling, sort: 'gcra' });
const slots = budgetEntry({ ...rolling, sort: 'slots' });
const window = budgetEntry({ ...rolling, sort: 'window' });
const reserve = { leaseMs: 60_000, isReleased: false };
const block = { withinMs: 30_000, forMs: 5_000, upToMs: 60_000, after: 1, entry: -1, id: 'b' };

const LIST = budgetLimiterOf({ entries: [gcra] });
const HELD = budgetLimiterOf({ entries: [slots], reserve });
const LIMITERS: [string, Limiter, (Reservation | undefined)?][] = [
  ['gcra', limiterOf({ ...rolling, name: 'gcra' })],
  ['a large sliding window', limiterOf({ ...rolling, name: 'sliding_window', limit: 100 })],
  ['a small sliding window', limiterOf({ ...rolling, name: 'sliding_window' })],
  ['a list of a rolling limit', LIST],
  ['a list of a window', budgetLimiterOf({ entries: [window] })],
  ['open reservations', HELD, { mode: 'reserve', id: 'a', saysHits: true }],
];

function create() {
  const counts = new Map<string, number>();
  const statistics = {
    count: (name: string, by: number) => counts.set(name, (counts.get(name) ?? 0) + by),
    gauge: () => () => undefined,
  };
  const counters = createMemoryCounters({ clock: () => NOW, statistics });
  const add = (
    limiter: Limiter,
    at: number,
    { hits = 1, keys = ['a'], reservation }: AddOptions = {},
  ) => {
    const windowEndSeconds = at + 3_600;
    const increments = keys.map((key) =>
      increment(key, hits, { limiter, limit: limiter.limit, windowEndSeconds, reservation }),
    );
    return counters.add({ increments, groupEnds: undefined, nowSeconds: at });
  };
  return { counters, add, mended: () => counts.get(MENDED) };
}

interface AddOptions {
  readonly hits?: number;
  readonly keys?: readonly string[];
  readonly reservation?: Reservation | undefined;
}

describe.each(LIMITERS)('counters of %s in memory', (_, limiter, reservation) => {
  it('are counted as mended once each, where a clock that was wrong had written them', async () => {
    const { counters, add, mended } = create();
    expect(mended()).toBe(0);
    const keys = ['a', 'b'];
    await add(limiter, NOW + AHEAD, { keys, reservation });
    expect(mended()).toBe(0);
    const more = reservation && { ...reservation, id: 'b' };
    await add(limiter, NOW, { keys, reservation: more });
    expect(mended()).toBe(2);
    await add(limiter, NOW, { keys, reservation: more });
    await add(limiter, NOW + 1, { keys });
    expect(mended()).toBe(2);
    await counters.close();
  });

  it('are counted also where the ask changes nothing', async () => {
    const { counters, add, mended } = create();
    await add(limiter, NOW + AHEAD, { reservation });
    await add(limiter, NOW, { hits: 0 });
    expect(mended()).toBe(1);
    await add(limiter, NOW);
    expect(mended()).toBe(1);
    await counters.close();
  });

  it('are not counted where the clock was right', async () => {
    const { counters, add, mended } = create();
    await add(limiter, NOW, { reservation });
    await add(limiter, NOW - 5);
    await add(limiter, NOW + AHEAD);
    expect(mended()).toBe(0);
    await counters.close();
  });
});

it('a counter whose record and reservations are wrong is counted once, also after an operator looked', async () => {
  const { counters, add, mended } = create();
  const limiter = budgetLimiterOf({ entries: [gcra, slots], reserve });
  await add(limiter, NOW + AHEAD, { hits: 2 });
  await add(limiter, NOW + AHEAD, { reservation: { mode: 'reserve', id: 'a', saysHits: true } });
  expect(counters.read('a', NOW, limiter)).toBeDefined();
  expect(mended()).toBe(0);
  await add(limiter, NOW);
  expect(mended()).toBe(1);
  await counters.close();
});

it('a block that lasts for longer than its rule says is counted as mended', async () => {
  const { counters, add, mended } = create();
  const limiter = budgetLimiterOf({ entries: [window], blocks: [block] });
  await add(limiter, NOW + 86_400, { hits: 11 });
  await add(limiter, NOW);
  expect(mended()).toBe(1);
  await counters.close();
});
