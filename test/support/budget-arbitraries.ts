import fc from 'fast-check';
import type { BlockTerms, Budget, BudgetEntry, BudgetLimiter } from '../../src/core/budgets/budget';
import { slots } from '../../src/core/budgets/budget-kind';
import { fixed } from '../../src/core/kinds/window';
import { compileLimiter } from '../../src/core/kinds/limiter';
import { gcra } from '../../src/core/kinds/gcra';
import type { CounterState, Limiter, Kind, Reservation } from '../../src/core/kinds/kind';
import { sliding } from '../../src/core/kinds/sliding';
import { MAX_LOGGED, slidingLog } from '../../src/core/kinds/sliding-log';
import { shareOfBudget } from '../../src/core/rules/compile-budget';
import { windowOfLength, type WindowAt } from '../../src/core/windows/length';

const DAY = 86_400;
const ZONE_SHIFT = 3_600;

/** Small numbers, where things meet, and numbers up to the largest of all kinds. */
const LIMITS = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 1, max: 12 }) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 50_000_000 }) },
);

interface EntryDraft {
  readonly sort: 'window' | 'calendar' | 'gcra' | 'sliding' | 'slots';
  readonly periodSeconds: number;
  readonly limit: number;
  /** The limit when left out. */
  readonly burst?: number;
  readonly chargeDenied?: boolean;
}

const ENTRIES: fc.Arbitrary<EntryDraft> = fc.record({
  sort: fc.constantFrom('window', 'calendar', 'gcra', 'sliding', 'slots'),
  periodSeconds: fc.constantFrom(1, 10, 60, 3_600, DAY, 31_536_000),
  limit: LIMITS,
  burst: LIMITS,
  chargeDenied: fc.boolean(),
});

const KINDS = { window: fixed, calendar: fixed, gcra, sliding, slots } as const;

/** A limit as the compiler of rules makes it. */
export function budgetEntry(draft: EntryDraft): BudgetEntry {
  const { sort, periodSeconds, limit, burst = limit, chargeDenied = false } = draft;
  const kind: Kind<CounterState> =
    sort === 'sliding' && limit <= MAX_LOGGED ? slidingLog : KINDS[sort];
  const limiter = compileLimiter(kind, { limit, burst, chargeDenied, periodSeconds });
  const length = sort === 'calendar' ? DAY : periodSeconds;
  return {
    limiter: limiter as Limiter<CounterState>,
    id: sort === 'calendar' ? 'c1day/Europe/Berlin/monday/1' : kind.letter + String(periodSeconds),
    windowAt: windowOf(sort, length),
    isSlots: sort === 'slots',
    isResting: false,
    longestSeconds: sort === 'slots' ? 0 : length,
    periodSeconds: sort === 'slots' ? 0 : length,
  };
}

function windowOf(sort: EntryDraft['sort'], length: number): WindowAt | undefined {
  if (sort === 'window') return (now) => windowOfLength(length, now);
  if (sort !== 'calendar') return undefined;
  return (now) => {
    const { startSeconds, endSeconds, keyEnd } = windowOfLength(DAY, now + ZONE_SHIFT);
    return {
      startSeconds: startSeconds - ZONE_SHIFT,
      endSeconds: endSeconds - ZONE_SHIFT,
      keyEnd,
    };
  };
}

/** A list of limits, without what a rule may say besides unless it is given. */
export function budgetLimiterOf(given: Pick<Budget, 'entries'> & Partial<Budget>): BudgetLimiter {
  const plain = { reserve: undefined, blocks: [], isForced: false, isShadow: false };
  const budget: Budget = { ...plain, ...given };
  return shareOfBudget({ budget } as BudgetLimiter, (limiter) => limiter);
}

const BLOCKS = fc.record({
  after: fc.integer({ min: 1, max: 3 }),
  // The bounds of what a rule believes of another: see test/scenarios/reservations.txt for what lies beyond.
  withinMs: fc.constant(30_000),
  forMs: fc.constantFrom(500, 5_000, 60_000),
  upToMs: fc.constant(3_600_000),
});

/** Any rule with a budget, which reserves or does not. */
export function budgetLimiters(isReserving: boolean): fc.Arbitrary<BudgetLimiter> {
  return fc
    .record({
      drafts: fc.uniqueArray(ENTRIES, {
        minLength: 1,
        maxLength: 8,
        selector: ({ sort, periodSeconds }) =>
          ['slots', 'calendar'].includes(sort) ? sort : sort + String(periodSeconds),
      }),
      leaseMs: fc.constantFrom(1_000, 20_000, 600_000),
      isReleased: fc.boolean(),
      ofEntry: fc.option(BLOCKS, { nil: undefined }),
      ofRule: fc.option(BLOCKS, { nil: undefined }),
      isForced: fc.boolean(),
      isShadow: fc.boolean(),
    })
    .map(({ drafts, leaseMs, isReleased, ofEntry, ofRule, isForced, isShadow }) => {
      const kept = isReserving ? drafts : drafts.filter(({ sort }) => sort !== 'slots');
      const entries = kept.map(budgetEntry);
      const blocks: BlockTerms[] = [];
      if (ofEntry !== undefined && entries.length > 0) blocks.push({ ...ofEntry, entry: 0 });
      if (ofRule !== undefined) blocks.push({ ...ofRule, entry: -1 });
      const reserve = isReserving ? { leaseMs, isReleased } : undefined;
      const limiter = budgetLimiterOf({ entries, reserve, blocks, isForced, isShadow });
      const shown = { kept, reserve, blocks, isForced, isShadow };
      return Object.assign(limiter, { [fc.toStringMethod]: () => JSON.stringify(shown) });
    })
    .filter(({ budget }) => budget.entries.length > 0);
}

/** Any rule with one limit that reserves and blocks nothing. */
export const ONE_LIMIT_GATES: fc.Arbitrary<BudgetLimiter> = fc
  .record({
    draft: ENTRIES,
    leaseMs: fc.constantFrom(1_000, 20_000, 600_000),
    isReleased: fc.boolean(),
    isForced: fc.boolean(),
  })
  .map(({ draft, leaseMs, isReleased, isForced }) => {
    const reserve = { leaseMs, isReleased };
    const entries = [budgetEntry(draft)];
    const limiter = budgetLimiterOf({ entries, reserve, blocks: [], isForced, isShadow: false });
    const shown = { draft, reserve, isForced };
    return Object.assign(limiter, { [fc.toStringMethod]: () => JSON.stringify(shown) });
  });

/** One call for one counter. */
export interface BudgetStep {
  /** Milliseconds since the one before; negative: the clock of the store goes back. */
  readonly pauseMs: number;
  /** Seconds by which the clock of the process is ahead of that of the store. */
  readonly aheadSeconds: number;
  /** Share of the smallest limit; 0 looks, negative gives back. */
  readonly share: number;
  readonly times: number;
  readonly mode: 'ask' | Reservation['mode'];
  readonly id: string;
  readonly saysHits: boolean;
  /** Which of the rules it meets: they change while the service runs. */
  readonly rule: number;
}

export function budgetSteps(isReserving: boolean): fc.Arbitrary<BudgetStep[]> {
  const modes = ['ask', 'reserve', 'reserve', 'settle', 'cancel'] as const;
  return fc.array(
    fc.record({
      pauseMs: fc.oneof(
        fc.constant(0),
        fc.constantFrom(500, 600, 5_000, 60_000),
        fc.integer({ min: 0, max: 3_000 }),
        fc.integer({ min: -10_000, max: 40_000 }),
        fc.integer({ min: 0, max: 100_000_000 }),
      ),
      aheadSeconds: fc.oneof(fc.constant(0), fc.integer({ min: -2, max: 2 })),
      share: fc.oneof(fc.constant(0), fc.double({ min: -1, max: 1.2, noNaN: true })),
      times: fc.integer({ min: 1, max: 4 }),
      mode: isReserving ? fc.constantFrom(...modes) : fc.constant('ask' as const),
      id: fc.constantFrom('a', 'b', 'зв', '1', "x'y z"),
      saysHits: fc.boolean(),
      rule: fc.integer({ min: 0, max: 1 }),
    }),
    { minLength: 1, maxLength: 25 },
  );
}
