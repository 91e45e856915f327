import { isBudgetLimiter, type BlockTerms, type Budget } from '../budgets/budget';
import { toUnitCount } from '../windows/length';
import { isHolding, type RuleLimit } from './rules';

/** One limit of a rule in words: `1,000 per hour`, and its further properties. */
export interface EntryText {
  readonly rate: string;
  readonly more: readonly string[];
}

/**
 * The limits of a rule in words, with its reservations and blocks: `10 per second and 1,000 per hour, blocked for 15 minutes after
 * 3 refusals`. `textOf` words one limit.
 */
export function describeBudget(
  { limiter, budget }: Pick<RuleLimit, 'limiter' | 'budget'>,
  textOf: (limit: RuleLimit) => EntryText,
): string {
  if (!isBudgetLimiter(limiter) || budget === undefined) return '';
  const { blocks, reserve } = limiter.budget;
  const entries = budget.entries.flatMap((entry, at) => {
    if (!isHolding(budget, at)) return [];
    const { rate, more } = textOf(entry);
    return [{ rate, more: [...more, ...blockTexts(limiter.budget, at)] }];
  });
  const [sole] = entries;
  const rates =
    entries.length === 1 && sole !== undefined
      ? [sole.rate, ...sole.more]
      : [inWords(entries.map(entryText))];
  const lease = reserve && `reservations of up to ${lengthText(reserve.leaseMs)}`;
  const ofRule = blocks.filter(({ entry }) => entry === -1);
  return [
    ...rates,
    ...(lease === undefined ? [] : [reserve?.isReleased ? `${lease}, released unsettled` : lease]),
    ...ofRule.map((block) => blockText(block, longestOf(limiter.budget))),
  ].join(', ');
}

function entryText({ rate, more }: EntryText): string {
  return more.length === 0 ? rate : `${rate} (${more.join(', ')})`;
}

/** `a`, `a and b`, `a, b and c`. */
function inWords(texts: readonly string[]): string {
  const [last, ...before] = texts.toReversed();
  return before.length === 0 ? (last ?? '') : `${before.toReversed().join(', ')} and ${last ?? ''}`;
}

function longestOf({ entries }: Budget): number {
  const awake = entries.filter(({ isResting }) => !isResting);
  return Math.max(...awake.map(({ periodSeconds }) => periodSeconds));
}

function blockTexts({ blocks, entries }: Budget, at: number): readonly string[] {
  const own = blocks.filter(({ entry }) => entry === at);
  return own.map((block) => blockText(block, entries[at]?.periodSeconds ?? 0));
}

/** Defaults are left out. */
function blockText({ after, withinMs, forMs, upToMs }: BlockTerms, periodSeconds: number): string {
  const refusals = after === 1 ? 'a refusal' : `${String(after)} refusals`;
  const isUsual = after === 1 || withinMs === (periodSeconds === 0 ? forMs : periodSeconds * 1_000);
  const within = isUsual ? '' : ` within ${lengthText(withinMs)}`;
  const longer = upToMs === forMs ? '' : `, then for up to ${lengthText(upToMs)}`;
  return `blocked for ${lengthText(forMs)} after ${refusals}${within}${longer}`;
}

/** `15 minutes`, `1 day`, `500 milliseconds`. */
function lengthText(ms: number): string {
  const isWhole = ms % 1_000 === 0;
  const { unit, count } = isWhole ? toUnitCount(ms / 1_000) : { unit: 'millisecond', count: ms };
  return `${String(count)} ${unit.toLowerCase()}${count === 1 ? '' : 's'}`;
}
