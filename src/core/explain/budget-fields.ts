import { msOfBlocks } from '../budgets/block';
import { isBudgetGate, type ReserveTerms } from '../budgets/budget';
import { outcomeOfBudget } from '../budgets/outcome';
import type { BudgetState } from '../kinds/kind';
import type { CounterReading } from '../ports';
import { isHolding, type RuleLimit } from '../rules/rules';

/** What operators see of the counter of a rule with a budget, besides hits in use (budgets.md section 9). */
export interface BudgetFields {
  readonly limits: readonly LimitStanding[];
  /** Hits that open reservations hold, and how many are open; absent of a rule that takes none. */
  readonly held?: number;
  readonly open?: number;
  /** How long ago the one was opened that ends first, by the lease of the rule as it is now; absent while none is open. */
  readonly oldestSeconds?: number;
  /** Refusals that count for the next block; absent while there are none. */
  readonly strikes?: number;
  /** Seconds until its last block ends; absent while it is not blocked. */
  readonly blockedSeconds?: number;
}

export interface LimitStanding {
  /** As statistics call it: `hour`, `day_gcra`. */
  readonly name: string;
  readonly remaining: number;
  readonly resetSeconds: number;
}

/** Undefined: the counter is of no rule with a budget, or could not be read. */
export function budgetFields(
  { gate, budget }: RuleLimit,
  { state, firstEndMs }: Pick<CounterReading, 'state' | 'firstEndMs'>,
  second: number,
): BudgetFields | undefined {
  if (budget === undefined || state === undefined || !isBudgetGate(gate)) return undefined;
  const seen = state as BudgetState;
  const { entries } = outcomeOfBudget(gate.budget, seen, { hits: 0, mode: 'ask' }, second);
  const limits = entries.flatMap(({ remaining, resetSeconds }, at) =>
    isHolding(budget, at) ? [{ name: budget.names[at] as string, remaining, resetSeconds }] : [],
  );
  const { reserve } = gate.budget;
  const strikes = strikesOf(seen);
  const blockedSeconds = Math.ceil(msOfBlocks(gate.budget, seen) / 1_000);
  return {
    limits,
    ...(reserve !== undefined && { held: seen.held, open: seen.open }),
    ...(reserve !== undefined &&
      firstEndMs !== undefined && {
        oldestSeconds: ageSeconds(reserve, firstEndMs - seen.atMicros / 1_000),
      }),
    ...(strikes > 0 && { strikes }),
    ...(blockedSeconds > 0 && { blockedSeconds }),
  };
}

/** How long ago a reservation was opened whose lease ends in so many milliseconds. */
export function ageSeconds({ leaseMs }: ReserveTerms, endsInMs: number): number {
  return Math.max(0, Math.floor((leaseMs - endsInMs) / 1_000));
}

/** The most that one of its blocks has counted in a span that is not over. */
function strikesOf({ blocks, atMicros }: BudgetState): number {
  const open = blocks.filter(({ spanEndMs }) => spanEndMs > atMicros / 1_000);
  return open.reduce((most, { strikes }) => Math.max(most, strikes), 0);
}
