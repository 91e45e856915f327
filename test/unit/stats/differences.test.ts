import fc from 'fast-check';
import {
  createDifferences,
  type Differences,
  addDifferences,
  createMergedGauges,
} from '../../../src/stats/differences';
import { dumpText } from '../../../src/stats/dump';
import { createRegistry, type Registry } from '../../../src/stats/registry';
import { readCounters } from '../../support/read-counters';

async function read(next: () => AsyncGenerator<Differences, void>): Promise<Differences[]> {
  const all: Differences[] = [];
  // As a channel between processes does it.
  for await (const part of next()) all.push(structuredClone(part));
  return all;
}

const NONE = {
  totalHits: 0,
  totalNegativeHits: 0,
  overLimit: 0,
  nearLimit: 0,
  withinLimit: 0,
  shadowMode: 0,
  overLimitWithLocalCache: 0,
};

type Event =
  | { readonly kind: 'count' | 'unknown' | 'unmatched'; readonly name: string; readonly by: number }
  | { readonly kind: 'hits'; readonly name: string; readonly over: number; readonly by: number }
  | { readonly kind: 'time'; readonly name: string; readonly by: number; readonly times: number };

function apply(registry: Registry, event: Event): void {
  switch (event.kind) {
    case 'count':
      registry.count(event.name, event.by);
      return;
    case 'unknown':
      registry.unknownDomains.of(event.name, event.by).add(event.by);
      return;
    case 'unmatched':
      registry.unmatched.of(event.name, event.by).add(event.by);
      return;
    case 'hits':
      registry.rules
        .of(event.name, event.by)
        .add({ ...NONE, totalHits: event.by, overLimit: event.over });
      return;
    case 'time':
      registry.time(event.name, event.by, event.times);
  }
}

const name = fc.constantFrom('a', 'shop.user', 'a.10.0.0.1', 'x|y:z', 'tags.__k=v');
const by = fc.integer({ min: 1, max: 1_000 });
const event: fc.Arbitrary<Event> = fc.oneof(
  fc.record({ kind: fc.constantFrom('count', 'unknown', 'unmatched'), name, by }),
  fc.record({ kind: fc.constant('hits' as const), name, by, over: fc.nat(10) }),
  // Durations whose sums are exact.
  fc.record({
    kind: fc.constant('time' as const),
    name,
    by,
    times: fc.integer({ min: 1, max: 9 }),
  }),
);

it('the merged statistics of several processes are those of one that did it all', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ process: fc.nat(2), event, reports: fc.boolean() }), { maxLength: 40 }),
      async (steps) => {
        const alone = createRegistry();
        const owner = createRegistry();
        const processes = [0, 1, 2].map(() => {
          const registry = createRegistry();
          return { registry, differences: createDifferences(registry) };
        });
        const report = async (process: number): Promise<void> => {
          const parts = await read(processes[process]?.differences ?? fail);
          for (const part of parts) addDifferences(owner, part);
        };
        for (const step of steps) {
          apply(alone, step.event);
          apply(processes[step.process]?.registry ?? alone, step.event);
          if (step.reports) await report(step.process);
        }
        for (const process of [0, 1, 2]) await report(process);
        expect([...dumpText(owner)]).toEqual([...dumpText(alone)]);
      },
    ),
    { numRuns: 50 },
  );
});

function fail(): never {
  throw new Error('there is no such process');
}

it('reports nothing twice, and totals stay when a process is gone', async () => {
  const worker = createRegistry();
  const owner = createRegistry();
  const differences = createDifferences(worker);
  worker.count('calls', 3);
  worker.time('response', 2, 4);
  for (const part of await read(differences)) addDifferences(owner, part);
  for (const part of await read(differences)) addDifferences(owner, part);
  expect(owner.counter('calls').value).toBe(3);
  expect(owner.timer('response')).toMatchObject({ count: 4, sumMilliseconds: 8 });
});

it('counts what found no room once, although there is none in the owner either', async () => {
  const [worker, owner] = [createRegistry(), createRegistry()];
  for (const registry of [worker, owner])
    registry.limitSeries({ maxSeries: 1, onFull: () => undefined });
  const differences = createDifferences(worker);
  for (const path of ['shop.a', 'shop.b', 'shop.c']) addHits(worker, path, 5);
  for (const part of await read(differences)) addDifferences(owner, part);
  expect(
    Object.fromEntries([...readCounters(owner)].map(([name, { value }]) => [name, value])),
  ).toEqual(
    Object.fromEntries([...readCounters(worker)].map(([name, { value }]) => [name, value])),
  );
  expect(owner.counter('ratelimit.statistics.overflow').value).toBe(10);
});

it.each([
  ['rules', 'shop.overflow', 0],
  ['overOneLimit', 'shop.overflow.limit_overflow', 0],
  ['unmatched', 'overflow', 0],
  ['rules', 'shop.user.overflow', 5],
  ['overOneLimit', 'shop.user_ann.limit_overflow', 5],
] as const)(
  'without room for %s %s of another process, counts %d of 5 hits as overflow again',
  (group, path, counted) => {
    const owner = createRegistry();
    owner.limitSeries({ maxSeries: 0, onFull: () => undefined });
    addDifferences(owner, { series: [[group, path, [5]]], timers: [] });
    expect(owner.counter('ratelimit.statistics.overflow').value).toBe(counted);
  },
);

function addHits(to: Registry, path: string, totalHits: number): void {
  to.rules.of(path, totalHits).add({ ...NONE, totalHits });
}

it('sums gauges, shows the worst breaker and clock, and forgets those of a process that ended', () => {
  const owner = createRegistry();
  const gauges = createMergedGauges(owner);
  const report = (open: number, breaker: number) =>
    new Map([
      ['ratelimit.redis_pool.cx_active', open],
      ['ratelimit.redis_pool.breaker_state', breaker],
      ['ratelimit.redis_pool.clock_difference_seconds', open],
    ]);
  gauges.report(1, report(3, 0));
  gauges.report(2, report(4, 2));
  expect(Object.fromEntries(owner.readGauges())).toEqual({
    'ratelimit.redis_pool.cx_active': 7,
    'ratelimit.redis_pool.breaker_state': 2,
    'ratelimit.redis_pool.clock_difference_seconds': 4,
  });
  gauges.report(2, undefined);
  expect(owner.readGauges().get('ratelimit.redis_pool.breaker_state')).toBe(0);
  gauges.report(1, undefined);
  expect(owner.readGauges().size).toBe(0);
});

it('reads a gauge without showing it as a statistic', () => {
  const owner = createRegistry();
  const gauges = createMergedGauges(owner, new Set(['held']));
  expect(gauges.read('held')).toBe(0);
  gauges.report(1, new Map([['held', 3]]));
  gauges.report(2, new Map([['held', 4]]));
  expect([gauges.read('held'), owner.readGauges().size]).toEqual([7, 0]);
});
