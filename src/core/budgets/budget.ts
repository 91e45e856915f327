import type { BudgetState, CounterState, Gate } from '../kinds/kind';
import type { WindowAt } from '../windows/length';

/** A rule of which all limits hold, whose hits may be held before they are known, and that may block (budgets.md). */
export interface Budget {
  /** All limits of the rule in its order, 1 to 8: those that do not hold for this request rest. */
  readonly entries: readonly BudgetEntry[];
  /** Undefined: hits are charged at once. */
  readonly reserve: ReserveTerms | undefined;
  readonly blocks: readonly BlockTerms[];
  /** A reservation that is refused is held all the same: the rule refuses no request by itself. */
  readonly isForced: boolean;
  /** Its blocks are counted and refuse nothing. */
  readonly isShadow: boolean;
}

export interface BudgetEntry {
  readonly gate: Gate<CounterState>;
  /** Its name in the record of the counter, which a changed limit keeps: `g60`, `c:day:1:UTC`. */
  readonly id: string;
  /** Of windows that begin and end by the clock of this process. */
  readonly windowAt: WindowAt | undefined;
  /** It limits open reservations, not hits. */
  readonly isSlots: boolean;
  /** It is kept, and charged by leases that are over, but takes no part in this request: another rule replaces it. */
  readonly isResting: boolean;
  /** The most seconds that one of its windows takes; 0 where it has none. */
  readonly longestSeconds: number;
  /** What `tightest` compares; 0 for slots. */
  readonly periodSeconds: number;
}

/** `reserve` of a rule. */
export interface ReserveTerms {
  readonly leaseMs: number;
  /** When the lease is over the hits are given up, not charged. */
  readonly isReleased: boolean;
}

/** `block` of a rule or of one of its limits. */
export interface BlockTerms {
  /** Refusals that begin a block. */
  readonly after: number;
  /** Milliseconds in which they have to fall. */
  readonly withinMs: number;
  readonly forMs: number;
  /** The longest block: each one is twice as long as that before. */
  readonly upToMs: number;
  /** Whose refusals count: the index of an entry; -1: any. */
  readonly entry: number;
}

export interface BudgetGate extends Gate<BudgetState> {
  readonly budget: Budget;
}

/** Whether the limit rests whose refusals a block counts: it is kept, refuses nothing and counts nothing. */
export function isBlockResting(
  { entries }: Pick<Budget, 'entries'>,
  { entry }: BlockTerms,
): boolean {
  return entry !== -1 && entries[entry]?.isResting === true;
}

export function isBudgetGate(gate: Gate): gate is Gate & BudgetGate {
  return 'budget' in gate;
}

/** Open reservations of one counter; more are refused. */
export const MAX_OPEN = 100_000;

/** Larger sums are not exact: they stop here, and larger hits are refused. */
export const MAX_SUM = Number.MAX_SAFE_INTEGER;

/** Leases that end in one call at most; the others stay held until the next. */
export const MAX_LAPSES = 250;
