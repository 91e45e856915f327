import type { Budget, BudgetLimiter } from '../../src/core/budgets/budget';
import type { Limiter, Reservation } from '../../src/core/kinds/kind';
import type { Counters, Increment } from '../../src/core/ports';
import { createOverLimitCache } from '../../src/counters/over-limit-cache';
import { withBlockedKeys } from '../../src/counters/with-over-limit-cache';
import { budgetEntry, budgetLimiterOf } from '../support/budget-arbitraries';
import { limiterOf } from '../support/limiters';
import { SOME_MATCH } from '../support/rules';
import { compareOnRedis, inWaves, PER_BATCH } from './turns';

const KEYS = 10_000;
const OPEN = 10_000;

interface Shape {
  readonly name: string;
  /** The increments of one caller, one after the other; `serial` tells its calls apart. */
  readonly asks: (keyAt: number, serial: number) => readonly Increment[];
}

const entry = (sort: 'window' | 'gcra', periodSeconds: number) =>
  budgetEntry({ sort, periodSeconds, limit: 50_000_000, burst: 50_000_000, chargeDenied: false });

const budget = (more: Partial<Budget>): BudgetLimiter =>
  budgetLimiterOf({
    entries: [entry('window', 60), entry('window', 3_600)],
    reserve: undefined,
    blocks: [],
    isForced: false,
    isShadow: false,
    ...more,
  });

function of(limiter: Limiter, key: string, hits: number, reservation?: Reservation): Increment {
  return {
    key,
    hits,
    limit: limiter.limit,
    limiter,
    times: 1,
    ttlSeconds: 3_600,
    windowEndSeconds: Math.ceil(Date.now() / 1_000) + 3_600,
    reservation,
    ...SOME_MATCH,
  };
}

const GCRA = limiterOf({ name: 'gcra', limit: 50_000_000, periodSeconds: 3_600 }) as Limiter;
const gcraKey = (at: number): string => `edge_user_50000000_${String(at)}${GCRA.keyEnd ?? ''}`;
const budgetKey = (name: string, at: number): string => `{c:edge_user_${name}_${String(at)}~4}~r`;

function asking(name: string, given: BudgetLimiter): Shape {
  const limiter = given as Limiter;
  return { name, asks: (at) => [of(limiter, budgetKey(name, at), 1)] };
}

function reserving(name: string, given: BudgetLimiter, keyOf: (at: number) => string): Shape {
  const limiter = given as Limiter;
  return {
    name,
    asks: (at, serial) => {
      const id = `a3f0c2d1-${String(serial)}`;
      return [
        of(limiter, keyOf(at), 100, { mode: 'reserve', id, saysHits: true }),
        of(limiter, keyOf(at), 57, { mode: 'settle', id, saysHits: true }),
      ];
    },
  };
}

const RESERVE = { leaseMs: 600_000, isReleased: false };
const ONE_GCRA = { entries: [entry('gcra', 3_600)], reserve: RESERVE };
const BLOCK = { after: 3, withinMs: 60_000, forMs: 60_000, upToMs: 60_000, entry: -1 };

const SHAPES: readonly Shape[] = [
  { name: 'one gcra', asks: (at) => [of(GCRA, gcraKey(at), 1)] },
  asking('list of two', budget({})),
  asking('list of two, block', budget({ blocks: [BLOCK] })),
  reserving('reserve, settle', budget(ONE_GCRA), (at) => budgetKey('held', at)),
  reserving('reserve, settle of one', budget(ONE_GCRA), () => budgetKey('one', 0)),
];

/** Every key is asked again after 10,000 others. */
function createLoad({ asks }: Shape, counters: Pick<Counters, 'add'>) {
  let at = 0;
  let serial = 0;
  return inWaves(async (perBatch) => {
    const each = Array.from({ length: perBatch }, () =>
      asks((at = (at + 7_919) % KEYS), (serial += 1)),
    );
    for (let step = 0; step < (each[0]?.length ?? 0); step += 1) {
      const increments = each.map((one) => one[step] as Increment);
      await counters.add({ increments, groupEnds: undefined, nowSeconds: Date.now() / 1_000 });
    }
  });
}

const BLOCKED_KEYS = 1_000;
const BLOCKING = budgetLimiterOf({
  entries: [
    budgetEntry({ sort: 'window', periodSeconds: 3_600, limit: 1, burst: 1, chargeDenied: false }),
  ],
  reserve: undefined,
  blocks: [{ after: 1, withinMs: 60_000, forMs: 3_600_000, upToMs: 3_600_000, entry: -1 }],
  isForced: false,
  isShadow: false,
});

/** Keys that a block refuses, and that this process remembers. */
async function blockedKeys(counters: Counters) {
  const cache = createOverLimitCache({}, { sizeBytes: 1_048_576 });
  const known = withBlockedKeys(counters, cache, () => undefined);
  const asks = (at: number) => [of(BLOCKING, budgetKey('no', at % BLOCKED_KEYS), 1)];
  const increments = Array.from({ length: BLOCKED_KEYS }, (_, at) => asks(at)[0] as Increment);
  for (let hit = 0; hit < 3; hit += 1)
    await known.add({ increments, groupEnds: undefined, nowSeconds: Date.now() / 1_000 });
  return { name: 'blocked key', load: createLoad({ name: '', asks }, known) };
}

/**
 * So many that are open before anything is measured. One large batch would have V8 put all states into old space from then on,
 * which costs more than all the rest.
 */
async function openMany(counters: Pick<Counters, 'add'>): Promise<void> {
  for (let from = 0; from < OPEN; from += PER_BATCH) {
    const increments = Array.from({ length: PER_BATCH }, (_, at) => {
      const reservation = {
        mode: 'reserve',
        id: `open-${String(from + at)}`,
        saysHits: true,
      } as const;
      return of(budget(ONE_GCRA), budgetKey('one', 0), 1, reservation);
    });
    await counters.add({ increments, groupEnds: undefined, nowSeconds: Date.now() / 1_000 });
  }
}

void compareOnRedis(
  'CPU µs for each caller',
  9,
  async (counters) => {
    await openMany(counters);
    const loads = SHAPES.map((one) => ({ name: one.name, load: createLoad(one, counters) }));
    return [...loads, await blockedKeys(counters)];
  },
  () => 0,
);
