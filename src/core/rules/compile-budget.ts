import { budgetKind } from '../budgets/budget-kind';
import type { BlockTerms, Budget, BudgetEntry, BudgetGate, ReserveTerms } from '../budgets/budget';
import { slots } from '../budgets/slots';
import { fixed } from '../kinds/fixed';
import { limitGate } from '../kinds/gate';
import type { CounterState, Gate } from '../kinds/kind';
import { kindOf } from '../kinds/kinds';
import { keepWindow, windowOfLength } from '../windows/length';
import {
  DEFAULT_LEASE_MS,
  type BlockDefinition,
  type BudgetDefinition,
  type LimitDefinition,
  type ReserveDefinition,
} from './definition';
import { limitName } from './describe-limit';
import type { Period } from './period';
import type { RuleLimit } from './rules';

/** What of a rule bears on all of its limits. */
export interface BudgetSource extends BudgetDefinition {
  /** A refused reservation is held all the same. */
  readonly isForced: boolean;
  readonly isShadow: boolean;
}

/** Values with limits of their own, and rules of which some limits are replaced, share few combinations. */
const MAX_KEPT = 256;

/** The gate of one limit of a budget: hits that are refused are charged only where it says so. */
export function entryGate(limit: LimitDefinition, { seconds = 0 }: Period): Gate<CounterState> {
  const { requestsPerUnit, burst, chargeDenied = false } = limit;
  const definition = { limit: requestsPerUnit, burst, chargeDenied, periodSeconds: seconds };
  if (limit.isInFlight === true) return limitGate(slots, definition) as Gate<CounterState>;
  // A limit of 0 admits nothing, however it counts.
  const kind = requestsPerUnit === 0 ? fixed : kindOf({ ...limit, chargeDenied: false });
  return limitGate(kind, definition) as Gate<CounterState>;
}

/** The limit of a rule with a budget, of which `entries` are the limits by themselves. */
export function withBudget(entries: readonly RuleLimit[], source: BudgetSource): RuleLimit {
  const names = source.limits.map(limitName);
  const kept = new Map<string, RuleLimit | undefined>();
  const make = (chosen: readonly (RuleLimit | undefined)[]): RuleLimit | undefined => {
    const left = chosen.filter((one) => one !== undefined);
    const longest = left.reduce<RuleLimit | undefined>(
      (most, one) => (most === undefined || lengthOf(one) > lengthOf(most) ? one : most),
      undefined,
    );
    if (longest === undefined) return undefined;
    return {
      ...longest,
      name: left.length === 1 ? longest.name : '',
      replaces: [...new Set(left.flatMap(({ replaces }) => replaces))],
      limitsFrom: undefined,
      ofRule: chosen === entries ? undefined : own,
      gate: budgetGate(toBudget(chosen, source)),
      budget: {
        entries: left,
        chosen,
        names: names.filter((_, at) => chosen[at] !== undefined),
        withEntries,
      },
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

/** The length of a limit's period in seconds; of a calendar a usual one. Slots have none. */
function lengthOf({ gate, periodSeconds, windowAt }: RuleLimit): number {
  if (gate.kind === slots) return 0;
  if (periodSeconds !== undefined) return periodSeconds;
  const { startSeconds = 0, endSeconds = 0 } = windowAt?.(0) ?? {};
  return endSeconds - startSeconds;
}

function toBudget(
  chosen: readonly (RuleLimit | undefined)[],
  { limits, reserve, block, isForced, isShadow }: BudgetSource,
): Budget {
  const entries: BudgetEntry[] = [];
  const blocks: BlockTerms[] = [];
  for (const [at, one] of chosen.entries()) {
    if (one === undefined) continue;
    const own = limits[at]?.block;
    if (own !== undefined) blocks.push(toTerms(own, entries.length));
    entries.push(toEntry(one));
  }
  if (block !== undefined) blocks.push(toTerms(block, -1));
  return { entries, reserve: toReserve(reserve, limits), blocks, isForced, isShadow };
}

function toReserve(
  reserve: ReserveDefinition | undefined,
  limits: readonly LimitDefinition[],
): ReserveTerms | undefined {
  if (reserve !== undefined)
    return { leaseMs: reserve.leaseMs, isReleased: reserve.unsettled === 'release' };
  // Slots are taken by reservations; where another rule replaces them, the counter of the others stays the same.
  return limits.some(({ isInFlight }) => isInFlight === true)
    ? { leaseMs: DEFAULT_LEASE_MS, isReleased: false }
    : undefined;
}

function toTerms(block: BlockDefinition, entry: number): BlockTerms {
  return { ...block, entry };
}

function toEntry(limit: RuleLimit): BudgetEntry {
  const { windowAt, periodSeconds = 0, calendar } = limit;
  const gate = limit.gate as Gate<CounterState>;
  const { kind } = gate;
  const isSlots = kind === slots;
  const isAligned = !isSlots && !kind.hasOwnForm;
  const length = lengthOf(limit);
  return {
    gate,
    id:
      calendar === undefined
        ? kind.letter + String(periodSeconds)
        : `c${String(calendar.multiplier)}${calendar.unit}/${calendar.timeZone}/${calendar.weekStart}/${String(calendar.monthStart)}`,
    windowAt: isAligned
      ? (windowAt ?? keepWindow((now) => windowOfLength(length, now)))
      : undefined,
    isSlots,
    periodSeconds: length,
  };
}

/** Milliseconds: leases and blocks are said in them. */
const TICK_MICROS = 1_000;

function budgetGate(budget: Budget): BudgetGate {
  const counted = budget.entries.filter(({ isSlots }) => !isSlots);
  const limiting = counted.length === 0 ? budget.entries : counted;
  return {
    kind: budgetKind,
    limit: Math.min(...limiting.map(({ gate }) => gate.limit)),
    size: Math.min(...limiting.map(({ gate }) => gate.size)),
    chargeDenied: budget.entries.some(({ gate }) => gate.chargeDenied),
    keyEnd: budget.reserve === undefined ? '~c' : '~r',
    tickMicros: TICK_MICROS,
    periodTicks: 1,
    isAlone: budget.reserve !== undefined || budget.blocks.length > 0,
    budget,
  };
}

/** The same while so many instances count for themselves. */
export function shareOfBudget({ budget }: BudgetGate, shareOf: (gate: Gate) => Gate): BudgetGate {
  const entries = budget.entries.map((entry) => ({
    ...entry,
    gate: shareOf(entry.gate) as Gate<CounterState>,
  }));
  return budgetGate({ ...budget, entries });
}
