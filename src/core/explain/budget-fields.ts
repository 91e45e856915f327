import { msOfBlocks } from '../budgets/block';
import { isBudgetLimiter, type ReserveTerms } from '../budgets/budget';
import { outcomeOfBudget } from '../budgets/outcome';
import type { BudgetState } from '../kinds/kind';
import type { CounterReading } from '../ports';
import { isHolding, type RuleLimit } from '../rules/rules';

/** What operators see of a counter of a rule with a budget, besides hits in use (budgets.md section 9). */
export interface BudgetFields {
  readonly limits: readonly LimitStanding[];
  /** Hits that open reservations hold, and the number of open ones; absent for a rule without reservations. */
  readonly held?: number;
  readonly open?: number;
  /** Age of the open reservation that expires first, by the rule's current lease; absent while none is open. */
  readonly oldestSeconds?: number;
  /** Refusals counted for the next block; absent while there are none. */
  readonly strikes?: number;
  /** Seconds until the last block ends; absent while it is not blocked. */
  readonly blockedSeconds?: number;
}

export interface LimitStanding {
  /** Its name in statistics: `hour`, `day_gcra`. */
  readonly name: string;
  readonly remaining: number;
  readonly resetSeconds: number;
}

/** Undefined: the counter belongs to a rule without a budget, or could not be read. */
export function budgetFields(
  { limiter, budget }: RuleLimit,
  { state, firstEndMs }: Pick<CounterReading, 'state' | 'firstEndMs'>,
  second: number,
): BudgetFields | undefined {
  if (budget === undefined || state === undefined || !isBudgetLimiter(limiter)) return undefined;
  const reading = state as BudgetState;
  const { entries } = outcomeOfBudget(limiter.budget, reading, { hits: 0, mode: 'charge' }, second);
  const limits = entries.flatMap(({ remaining, resetSeconds }, at) =>
    isHolding(budget, at) ? [{ name: budget.names[at] as string, remaining, resetSeconds }] : [],
  );
  const { reserve } = limiter.budget;
  const strikes = strikesOf(reading);
  const blockedSeconds = Math.ceil(msOfBlocks(limiter.budget, reading) / 1_000);
  return {
    limits,
    ...(reserve !== undefined && { held: reading.held, open: reading.open }),
    ...(reserve !== undefined &&
      firstEndMs !== undefined && {
        oldestSeconds: ageSeconds(reserve, firstEndMs - reading.atMicros / 1_000),
      }),
    ...(strikes > 0 && { strikes }),
    ...(blockedSeconds > 0 && { blockedSeconds }),
  };
}

/** The age of a reservation whose lease expires in `endsInMs`. */
export function ageSeconds({ leaseMs }: ReserveTerms, endsInMs: number): number {
  return Math.max(0, Math.floor((leaseMs - endsInMs) / 1_000));
}

/** The highest strike count among the blocks whose span is not over. */
function strikesOf({ blocks, atMicros }: BudgetState): number {
  const open = blocks.filter(({ spanEndMs }) => spanEndMs > atMicros / 1_000);
  return open.reduce((most, { strikes }) => Math.max(most, strikes), 0);
}
