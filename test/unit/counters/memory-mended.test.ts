import type { Gate, Reservation } from '../../../src/core/kinds/kind';
import { createMemoryCounters } from '../../../src/counters/memory/create-memory-counters';
import { budgetEntry, budgetGateOf } from '../../support/budget-arbitraries';
import { gateOf } from '../../support/gates';
import { increment } from '../../support/increments';

/** Counters that a clock wrote which was ahead are counted as mended, as those in Redis are. */

const NOW = 1_795_240_200;
const AHEAD = 400 * 86_400;
const MENDED = 'ratelimit.memory.counters_mended';

const rolling = { limit: 10, burst: 10, periodSeconds: 3_600, chargeDenied: false } as const;
const gcra = budgetEntry({ ...rolling, sort: 'gcra' });
const slots = budgetEntry({ ...rolling, sort: 'slots' });
const window = budgetEntry({ ...rolling, sort: 'window' });
const common = { reserve: undefined, blocks: [], isForced: false, isShadow: false } as const;
const reserve = { leaseMs: 60_000, isReleased: false };
const block = { withinMs: 30_000, forMs: 5_000, upToMs: 60_000, after: 1, entry: -1, id: 'b' };

const LIST = budgetGateOf({ ...common, entries: [gcra] });
const HELD = budgetGateOf({ ...common, entries: [slots], reserve });
const GATES: [string, Gate, (Reservation | undefined)?][] = [
  ['gcra', gateOf({ ...rolling, name: 'gcra' })],
  ['a large sliding window', gateOf({ ...rolling, name: 'sliding_window', limit: 100 })],
  ['a small sliding window', gateOf({ ...rolling, name: 'sliding_window' })],
  ['a list of a rolling limit', LIST],
  ['a list of a window', budgetGateOf({ ...common, entries: [window] })],
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
    gate: Gate,
    at: number,
    { hits = 1, keys = ['a'], reservation }: AddOptions = {},
  ) => {
    const windowEndSeconds = at + 3_600;
    const increments = keys.map((key) =>
      increment(key, hits, { gate, limit: gate.limit, windowEndSeconds, reservation }),
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

describe.each(GATES)('counters of %s in memory', (_, gate, reservation) => {
  it('are counted as mended once each, where a clock that was wrong had written them', async () => {
    const { counters, add, mended } = create();
    expect(mended()).toBe(0);
    const keys = ['a', 'b'];
    await add(gate, NOW + AHEAD, { keys, reservation });
    expect(mended()).toBe(0);
    const more = reservation && { ...reservation, id: 'b' };
    await add(gate, NOW, { keys, reservation: more });
    expect(mended()).toBe(2);
    await add(gate, NOW, { keys, reservation: more });
    await add(gate, NOW + 1, { keys });
    expect(mended()).toBe(2);
    await counters.close();
  });

  it('are counted also where the ask changes nothing', async () => {
    const { counters, add, mended } = create();
    await add(gate, NOW + AHEAD, { reservation });
    await add(gate, NOW, { hits: 0 });
    expect(mended()).toBe(1);
    await add(gate, NOW);
    expect(mended()).toBe(1);
    await counters.close();
  });

  it('are not counted where the clock was right', async () => {
    const { counters, add, mended } = create();
    await add(gate, NOW, { reservation });
    await add(gate, NOW - 5);
    await add(gate, NOW + AHEAD);
    expect(mended()).toBe(0);
    await counters.close();
  });
});

it('a counter whose record and reservations are wrong is counted once, also after an operator looked', async () => {
  const { counters, add, mended } = create();
  const gate = budgetGateOf({ ...common, entries: [gcra, slots], reserve });
  await add(gate, NOW + AHEAD, { hits: 2 });
  await add(gate, NOW + AHEAD, { reservation: { mode: 'reserve', id: 'a', saysHits: true } });
  expect(counters.read('a', NOW, gate)).toBeDefined();
  expect(mended()).toBe(0);
  await add(gate, NOW);
  expect(mended()).toBe(1);
  await counters.close();
});

it('a block that lasts for longer than its rule says is counted as mended', async () => {
  const { counters, add, mended } = create();
  const gate = budgetGateOf({ ...common, entries: [window], blocks: [block] });
  await add(gate, NOW + 86_400, { hits: 11 });
  await add(gate, NOW);
  expect(mended()).toBe(1);
  await counters.close();
});
