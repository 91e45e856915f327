import { slots } from '../budgets/budget-kind';
import { kindOf } from '../kinds/kinds';
import { UNIT_SECONDS } from '../units';
import type { CalendarPeriod } from '../windows/calendar';
import { originText } from '../windows/zone-data';
import { toUnitCount, windowSeconds, type UnitCount } from '../windows/length';
import type { LimitDefinition } from './definition';
import { type RuleLimit, isHolding } from './rules';
import { isBudgetLimiter, type BlockTerms, type Budget } from '../budgets/budget';

type Timed = Pick<RuleLimit, 'unit' | 'windowAt' | 'periodSeconds' | 'calendar'>;

/** The true length in seconds of the period that contains this moment; calendar months differ. */
export function periodSecondsAt(limit: Timed, nowSeconds: number): number {
  const { periodSeconds, windowAt, unit } = limit;
  if (periodSeconds !== undefined) return periodSeconds;
  if (windowAt === undefined) return UNIT_SECONDS[unit];
  const { startSeconds, endSeconds } = windowAt(nowSeconds);
  return endSeconds - startSeconds;
}

/** A rule's period in the terms of its name: one minute, 5 minutes, 3 months. */
export function periodOf(limit: Timed): UnitCount {
  const { calendar } = limit;
  if (calendar !== undefined) return { unit: calendar.unit, count: calendar.multiplier };
  return toUnitCount(periodSecondsAt(limit, 0));
}

/** `minute`, `5 minutes`. */
export function periodText({ unit, count }: UnitCount): string {
  const word = unit.toLowerCase();
  return count === 1 ? word : `${String(count)} ${word}s`;
}

/**
 * The name of one of several limits for statistics and operators: its own name, else its period and, unless it is a fixed window,
 * its algorithm (budgets.md section 3): `hour`, `5_minute`, `calendar_day`, `hour_gcra`, `in_flight`.
 */
export function limitName(limit: LimitDefinition): string {
  const { name, unit = 'SECOND', unitMultiplier = 1, calendar, algorithm, isInFlight } = limit;
  if (name !== '') return name;
  if (isInFlight === true) return slots.words.name;
  const period = toUnitCount(windowSeconds(unit, unitMultiplier));
  if (calendar !== undefined) return `calendar_${countedUnit({ unit, count: unitMultiplier })}`;
  const { isRecord, words } = kindOf({ algorithm });
  return isRecord ? `${countedUnit(period)}_${words.name}` : countedUnit(period);
}

/** `minute`, `5_minute`. */
function countedUnit({ unit, count }: UnitCount): string {
  const word = unit.toLowerCase();
  return count === 1 ? word : `${String(count)}_${word}`;
}

/** Whether a limit is only hits per unit, as in every rule file of today. */
export function isPlain({ limiter, windowAt, limitsFrom, budget }: RuleLimit): boolean {
  const hasMore = windowAt !== undefined || limitsFrom !== undefined || budget !== undefined;
  return !hasMore && limiter.kind.words.ofLimiter(limiter).length === 0;
}

/** A limit in words: `600 per 5 minutes, bursts of 20`. */
export function describeLimit(limit: RuleLimit): string {
  if (limit.unlimited) return 'unlimited';
  if (limit.budget !== undefined) return describeBudget(limit, entryText);
  return [`${String(limit.requestsPerUnit)} per ${spanText(limit)}`, ...countingText(limit)].join(
    ', ',
  );
}

/** One of the limits of a rule in words: `1,000 per hour, sliding window`. */
export function describeEntry(limit: RuleLimit): string {
  const { rate, more } = entryText(limit);
  return [rate, ...more].join(', ');
}

/** One of the limits of a rule, which do not charge refused hits by default. */
function entryText(limit: RuleLimit): EntryText {
  const { limiter, requestsPerUnit } = limit;
  const number = requestsPerUnit.toLocaleString('en');
  const isCount = !limiter.kind.isRecord;
  const counting = isCount
    ? chargedText(limiter.chargeDenied)
    : limiter.kind.words.ofLimiter(limiter);
  const more = [...counting, ...sourceText(limit)];
  const rate = isInFlight(limit) ? `at most ${number}` : number;
  return { rate: `${rate} ${rateWords(limit)}`, more };
}

function isInFlight(limit: RuleLimit): boolean {
  return unitOf(limit) === 'UNKNOWN';
}

/** The words after the number of a limit: `per hour`, `in flight`. */
export function rateWords(limit: RuleLimit): string {
  return isInFlight(limit) ? 'in flight' : `per ${spanText(limit)}`;
}

function chargedText(chargeDenied: boolean): readonly string[] {
  return chargeDenied ? ['refused hits are charged'] : [];
}

/** The unit of a limit's period; requests in flight have none. */
export function unitOf({ unit, periodSeconds }: Pick<RuleLimit, 'unit' | 'periodSeconds'>) {
  return periodSeconds === 0 ? 'UNKNOWN' : unit;
}

function spanText(limit: RuleLimit): string {
  const { calendar } = limit;
  return calendar === undefined ? periodText(periodOf(limit)) : calendarText(calendar);
}

/** The words of a limit with more properties than hits per unit, for answers in JSON. */
export function limitWords(limit: RuleLimit): { readonly words?: string } {
  return isPlain(limit) ? {} : { words: describeLimit(limit) };
}

/** The time zone data of a rule's calendar periods: `2026f of Weir`; undefined: it has none. */
export function zoneDataText(limit: RuleLimit): string | undefined {
  const limits = limit.budget?.entries ?? [limit];
  const origins = limits.flatMap(({ calendar }) => calendar?.origin ?? []).map(originText);
  return origins.length === 0 ? undefined : [...new Set(origins)].join(' and ');
}

function countingText({ limiter, limitsFrom }: RuleLimit): readonly string[] {
  return [...limiter.kind.words.ofLimiter(limiter), ...sourceText({ limitsFrom })];
}

function sourceText({ limitsFrom }: Pick<RuleLimit, 'limitsFrom'>): readonly string[] {
  return limitsFrom === undefined ? [] : [`for values without a field in ${limitsFrom.key}`];
}

/** `calendar month in Europe/Berlin from day 15`, `3 calendar months`. */
function calendarText({
  unit,
  multiplier,
  timeZone,
  weekStart,
  monthStart,
}: CalendarPeriod): string {
  const word = unit.toLowerCase();
  const period = multiplier === 1 ? `calendar ${word}` : `${String(multiplier)} calendar ${word}s`;
  const zone = timeZone === 'UTC' ? '' : ` in ${timeZone}`;
  if (unit === 'WEEK' && weekStart !== 'monday') return `${period}${zone} from ${weekStart}`;
  return unit === 'MONTH' && monthStart !== 1
    ? `${period}${zone} from day ${String(monthStart)}`
    : `${period}${zone}`;
}

/** One limit of a rule in words: `1,000 per hour`, and its further properties. */
interface EntryText {
  readonly rate: string;
  readonly more: readonly string[];
}

/**
 * The limits of a rule in words, with its reservations and blocks: `10 per second and 1,000 per hour, blocked for 15 minutes after
 * 3 refusals`. `textOf` words one limit.
 */
function describeBudget(
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
      : [inWords(entries.map(budgetEntryText))];
  const lease = reserve && `reservations of up to ${lengthText(reserve.leaseMs)}`;
  const ofRule = blocks.filter(({ entry }) => entry === -1);
  return [
    ...rates,
    ...(lease === undefined ? [] : [reserve?.isReleased ? `${lease}, released unsettled` : lease]),
    ...ofRule.map((block) => blockText(block, longestOf(limiter.budget))),
  ].join(', ');
}

function budgetEntryText({ rate, more }: EntryText): string {
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
