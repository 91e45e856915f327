import { type BudgetFields } from './explanation';
import { describeEntry, limitWords, unitOf, zoneDataText } from '../rules/describe-limit';
import { isHolding, type BudgetLimits, type RuleLimit } from '../rules/rules';
import type { EntryExplanation, LimitExplanation, LimitSource } from './explanation';
import { msOfBlocks } from '../budgets/block';
import { isBudgetLimiter, type ReserveTerms } from '../budgets/budget';
import { outcomeOfBudget } from '../budgets/outcome';
import type { BudgetState } from '../kinds/kind';
import type { CounterReading } from '../ports';
import type { Entry } from '../model';
import { fieldOf } from '../planning/value-limit';
import type { Secrets } from '../rules/secrets';

/** Fields of every limit in explanations and lists; for several limits those of the longest period, and all of them. */
export function limitFields(
  limit: RuleLimit,
): Omit<LimitExplanation, 'source' | 'at' | 'limitsFrom'> {
  const { shadowMode, quotaMode, name, budget } = limit;
  const reported = budget?.entries.find(({ current }) => current === limit.current) ?? limit;
  const timeZoneData = zoneDataText(limit);
  return {
    ...rateOf(reported),
    ...limitWords(limit),
    ...(timeZoneData !== undefined && { timeZoneData }),
    ...(budget !== undefined && { limits: entryFields(budget) }),
    shadowMode,
    quotaMode,
    ...(name !== '' && { name }),
  };
}

function rateOf(
  limit: RuleLimit,
): Pick<EntryExplanation, 'requestsPerUnit' | 'unit' | 'algorithm'> {
  const { requestsPerUnit, limiter } = limit;
  return { requestsPerUnit, unit: unitOf(limit), algorithm: limiter.kind.words.name };
}

function entryFields(budget: BudgetLimits): readonly EntryExplanation[] {
  return budget.entries.flatMap((limit, at) =>
    isHolding(budget, at)
      ? [{ name: budget.names[at] ?? '', ...rateOf(limit), words: describeEntry(limit) }]
      : [],
  );
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

/** The source of a value's limit, for a rule with `limits_from`; empty for others. */
export function limitSource(
  limit: RuleLimit,
  entries: readonly Entry[],
  secrets: Secrets | undefined,
): { readonly limitsFrom?: LimitSource } {
  const rule = (limit.ofRule ?? limit).limitsFrom;
  if (rule === undefined) return {};
  const source = { key: rule.key, field: fieldOf(rule, entries, secrets) };
  if (limit.ofRule === undefined) return { limitsFrom: source };
  return {
    limitsFrom: { ...source, value: limit.unlimited ? 'unlimited' : limit.requestsPerUnit },
  };
}

export function sourceText({ key, field, value }: LimitSource): string {
  const place = `the field ${JSON.stringify(field)} of the hash ${key}`;
  return value === undefined ? `${place} holds no limit` : `${place} is ${String(value)}`;
}
