import { budgetKind, slots } from '../budgets/budget-kind';
import {
  type BlockTerms,
  type Budget,
  type BudgetEntry,
  type BudgetLimiter,
  type ReserveTerms,
  isBudgetLimiter,
} from '../budgets/budget';
import { compileLimiter } from '../kinds/limiter';
import type { CounterState, Limiter } from '../kinds/kind';
import { kindOf } from '../kinds/kinds';
import { periodName, type CalendarPeriod } from '../windows/calendar';
import { keepWindow, windowOfLength } from '../windows/length';
import {
  DEFAULT_LEASE_MS,
  type BudgetDefinition,
  type LimitDefinition,
  type ReserveDefinition,
} from './definition';
import { limitName } from './describe-limit';
import type { Period } from './compile-period';
import type { RuleLimit, BudgetLimits, RuleNode } from './rules';

/** The fields of a rule that concern all of its limits. */
export interface BudgetSource extends BudgetDefinition {
  /** A refused reservation is opened all the same. */
  readonly isForced: boolean;
  readonly isShadow: boolean;
}

/** Values with limits of their own, and rules with replaced limits, have few combinations. */
const MAX_KEPT = 256;

/** The limiter of one limit of a budget: refused hits are charged only where the limit asks for it. */
export function entryLimiter(
  limit: LimitDefinition,
  { seconds = 0 }: Period,
): Limiter<CounterState> {
  const { requestsPerUnit, burst, chargeDenied = false } = limit;
  const definition = { limit: requestsPerUnit, burst, chargeDenied, periodSeconds: seconds };
  if (limit.isInFlight === true) return compileLimiter(slots, definition) as Limiter<CounterState>;
  const kind = kindOf({ ...limit, limit: requestsPerUnit, chargeDenied: false });
  return compileLimiter(kind, definition) as Limiter<CounterState>;
}

/** The limit of a rule with a budget; `entries` are its single limits. */
export function withBudget(entries: readonly RuleLimit[], source: BudgetSource): RuleLimit {
  const names = source.limits.map(limitName);
  const kept = new Map<string, RuleLimit | undefined>();
  const make = (chosen: readonly (RuleLimit | undefined)[]): RuleLimit | undefined => {
    const left = chosen.filter((one) => one !== undefined);
    const longest = longestOf(left);
    if (longest === undefined) return undefined;
    return {
      ...longest,
      name: left.length === 1 ? longest.name : '',
      replaces: [...new Set(left.flatMap(({ replaces }) => replaces))],
      limitsFrom: undefined,
      ofRule: chosen === entries ? undefined : own,
      limiter: budgetLimiter(toBudget({ entries, chosen }, source)),
      budget: { entries: entries.map((one, at) => chosen[at] ?? one), chosen, names, withEntries },
    };
  };
  const withEntries = (chosen: readonly (RuleLimit | undefined)[]): RuleLimit | undefined => {
    const key = chosen.map((one) => one?.requestsPerUnit).join();
    if (kept.has(key)) return kept.get(key);
    if (kept.size === MAX_KEPT) kept.clear();
    const made = make(chosen);
    kept.set(key, made);
    return made;
  };
  const own = withEntries(entries) as RuleLimit;
  return own;
}

function longestOf(limits: readonly RuleLimit[]): RuleLimit | undefined {
  return limits.reduce<RuleLimit | undefined>(
    (most, one) => (most === undefined || lengthOf(one) > lengthOf(most) ? one : most),
    undefined,
  );
}

/** The length of a limit's period in seconds; for a calendar the usual one. Slots have none. */
function lengthOf({ limiter, periodSeconds, windowAt }: RuleLimit): number {
  if (limiter.kind === slots) return 0;
  if (periodSeconds !== undefined) return periodSeconds;
  const { startSeconds = 0, endSeconds = 0 } = windowAt?.(0) ?? {};
  return endSeconds - startSeconds;
}

/** The limits of a rule, and those of them that apply. */
interface Choice {
  readonly entries: readonly RuleLimit[];
  readonly chosen: readonly (RuleLimit | undefined)[];
}

const DAY_SECONDS = 86_400;
const DAYS_OF_UNIT = { DAY: 1, WEEK: 7, MONTH: 31, YEAR: 366 } as const;

/** A zone that changes its clock makes a window longer by at most a day. */
function longestOfCalendar({ unit, multiplier }: CalendarPeriod): number {
  return (DAYS_OF_UNIT[unit] * multiplier + 1) * DAY_SECONDS;
}

function toBudget(
  { entries: all, chosen }: Choice,
  { limits, reserve, block, isForced, isShadow }: BudgetSource,
): Budget {
  const entries: BudgetEntry[] = [];
  const blocks: BlockTerms[] = [];
  for (const [entry, one] of all.entries()) {
    const isResting = chosen[entry] === undefined;
    const own = limits[entry]?.block;
    if (own !== undefined) blocks.push({ ...own, entry });
    entries.push(toEntry(chosen[entry] ?? one, isResting));
  }
  if (block !== undefined) blocks.push({ ...block, entry: -1 });
  return { entries, reserve: toReserve(reserve, limits), blocks, isForced, isShadow };
}

function toReserve(
  reserve: ReserveDefinition | undefined,
  limits: readonly LimitDefinition[],
): ReserveTerms | undefined {
  if (reserve !== undefined) {
    const { leaseMs, unsettled, settleZero } = reserve;
    return {
      ...{ leaseMs, isReleased: unsettled === 'release' },
      ...(settleZero === 'ignore' && { ignoresZero: true }),
    };
  }
  // Slots are taken by reservations; where another rule replaces them, the counter of the others stays the same.
  return limits.some(({ isInFlight }) => isInFlight === true)
    ? { leaseMs: DEFAULT_LEASE_MS, isReleased: false }
    : undefined;
}

function toEntry(limit: RuleLimit, isResting: boolean): BudgetEntry {
  const { windowAt, periodSeconds = 0, calendar } = limit;
  const limiter = limit.limiter as Limiter<CounterState>;
  const { kind } = limiter;
  const isSlots = kind === slots;
  const isAligned = !isSlots && !kind.isRecord;
  const length = lengthOf(limit);
  return {
    limiter,
    id: calendar === undefined ? kind.letter + String(periodSeconds) : periodName(calendar),
    windowAt: isAligned
      ? (windowAt ?? keepWindow((now) => windowOfLength(length, now)))
      : undefined,
    isSlots,
    isResting,
    longestSeconds: calendar === undefined ? length : longestOfCalendar(calendar),
    periodSeconds: length,
  };
}

/** Milliseconds: the unit of leases and blocks. */
const TICK_MICROS = 1_000;

function budgetLimiter(budget: Budget): BudgetLimiter {
  const awake = budget.entries.filter(({ isResting }) => !isResting);
  const counted = awake.filter(({ isSlots }) => !isSlots);
  const limiting = counted.length === 0 ? awake : counted;
  return {
    kind: budgetKind,
    limit: Math.min(...limiting.map(({ limiter }) => limiter.limit)),
    size: Math.min(...limiting.map(({ limiter }) => limiter.size)),
    drain: 1,
    chargeDenied: awake.some(({ limiter }) => limiter.chargeDenied),
    keyEnd: budget.reserve === undefined ? '~c' : '~r',
    tickMicros: TICK_MICROS,
    periodTicks: 1,
    isNeverMerged: budget.reserve !== undefined || budget.blocks.length > 0,
    budget,
  };
}

/** The share of one instance, while several count alone. */
export function shareOfBudget(
  { budget }: BudgetLimiter,
  shareOf: (limiter: Limiter) => Limiter,
): BudgetLimiter {
  const entries = budget.entries.map((entry) => ({
    ...entry,
    limiter: shareOf(entry.limiter) as Limiter<CounterState>,
  }));
  return budgetLimiter({ ...budget, entries });
}

/**
 * The two entries that may follow that of a rule with `reserve`: they count under its name, whatever their value (budgets.md
 * section 4). None for other rules.
 */
export function reservationNodes(above: RuleNode): ReadonlyMap<string, RuleNode> {
  const { limit } = above;
  const nodes = new Map<string, RuleNode>();
  if (limit === undefined || !hasReservations(limit.limiter)) return nodes;
  for (const key of ['reserve', 'settle'] as const) nodes.set(key, nodeBelow(above, limit, key));
  return nodes;
}

/** Whether the counters of a rule may reserve hits. */
export function hasReservations(limiter: Limiter): limiter is Limiter & BudgetLimiter {
  return isBudgetLimiter(limiter) && limiter.budget.reserve !== undefined;
}

function nodeBelow(above: RuleNode, limit: RuleLimit, key: 'reserve' | 'settle'): RuleNode {
  return {
    literal: above.isDynamic ? '' : above.literal,
    isDynamic: false,
    parent: above.isDynamic ? above : above.parent,
    depth: above.depth + 1,
    limit: asReservation(limit, key),
    children: undefined,
    sharedPattern: above.sharedPattern,
    segment: above.segment,
    valueToMetric: false,
    dynamicMetric: above.dynamicMetric,
    isOnSharedPath: above.isOnSharedPath,
  };
}

/** The limit for descriptors of reservations, whichever of its limits apply. */
function asReservation(limit: RuleLimit, reservation: 'reserve' | 'settle'): RuleLimit {
  const budget = limit.budget as BudgetLimits;
  const kept = new Map<RuleLimit, RuleLimit>();
  const withEntries: BudgetLimits['withEntries'] = (entries) => {
    const changed = budget.withEntries(entries);
    if (changed === undefined) return undefined;
    const known = kept.get(changed);
    if (known !== undefined) return known;
    if (kept.size === MAX_KEPT) kept.clear();
    const made = asReservation(changed, reservation);
    kept.set(changed, made);
    return made;
  };
  const ofRule = limit.ofRule ?? limit;
  return { ...limit, ofRule, reservation, budget: { ...budget, withEntries } };
}
