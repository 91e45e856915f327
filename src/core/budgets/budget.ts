import type { BudgetState, CounterState, Limiter } from '../kinds/kind';
import type { WindowAt } from '../windows/length';

/** A rule whose limits must all admit; it may reserve hits whose number is known later, and may block (budgets.md). */
export interface Budget {
  /** All limits of the rule in its order, 1 to 8; those that do not apply to this request are resting. */
  readonly entries: readonly BudgetEntry[];
  /** Undefined: hits are charged at once. */
  readonly reserve: ReserveTerms | undefined;
  readonly blocks: readonly BlockTerms[];
  /** A reservation is opened even when it is refused: the rule by itself refuses no request. */
  readonly isForced: boolean;
  /** Its blocks are counted but refuse nothing. */
  readonly isShadow: boolean;
}

export interface BudgetEntry {
  readonly limiter: Limiter<CounterState>;
  /** Its name in the record of the counter, kept when the limit changes: `g60`, `c:day:1:UTC`. */
  readonly id: string;
  /** For windows, which follow the clock of this process. */
  readonly windowAt: WindowAt | undefined;
  /** It limits open reservations instead of hits. */
  readonly isSlots: boolean;
  /** Another rule replaces it for this request: it is stored and charged by expired leases, and not checked. */
  readonly isResting: boolean;
  /** The longest of its windows in seconds; 0 where it has none. */
  readonly longestSeconds: number;
  /** Its weight for `tightest`; 0 for slots. */
  readonly periodSeconds: number;
}

/** `reserve` of a rule. */
export interface ReserveTerms {
  readonly leaseMs: number;
  /** An expired lease releases its hits instead of charging them. */
  readonly isReleased: boolean;
  /** A settle that says 0 hits only reads: it ends no reservation. */
  readonly ignoresZero?: boolean;
}

/** `block` of a rule or of one of its limits. */
export interface BlockTerms {
  /** Number of refusals that begin a block. */
  readonly after: number;
  /** The refusals must fall within this time. */
  readonly withinMs: number;
  readonly forMs: number;
  /** The longest block: each block lasts twice as long as the one before. */
  readonly upToMs: number;
  /** The entry whose refusals count, by index; -1: any. */
  readonly entry: number;
}

export interface BudgetLimiter extends Limiter<BudgetState> {
  readonly budget: Budget;
}

/** Whether the limit whose refusals this block counts is resting. */
export function isBlockResting(
  { entries }: Pick<Budget, 'entries'>,
  { entry }: BlockTerms,
): boolean {
  return entry !== -1 && entries[entry]?.isResting === true;
}

export function isBudgetLimiter(limiter: Limiter): limiter is Limiter & BudgetLimiter {
  return 'budget' in limiter;
}

/** Open reservations per counter; further ones are refused. */
export const MAX_OPEN = 100_000;

/** Larger sums are not exact: sums are clamped to this, and larger hits refused. */
export const MAX_SUM = Number.MAX_SAFE_INTEGER;

/** Leases expired per call; the rest stay held until the next call. */
export const MAX_LAPSES = 250;
