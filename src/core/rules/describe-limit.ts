import type { CalendarPeriod } from '../windows/calendar';
import { UNIT_SECONDS } from '../units';
import { toUnitCount, type UnitCount } from '../windows/length';
import type { RuleLimit } from './rules';

type Timed = Pick<RuleLimit, 'unit' | 'windowAt' | 'periodSeconds' | 'calendar'>;

/** The true length in seconds of the period that holds this moment; months of the calendar differ. */
export function periodSecondsAt(limit: Timed, nowSeconds: number): number {
  const { periodSeconds, windowAt, unit } = limit;
  if (periodSeconds !== undefined) return periodSeconds;
  if (windowAt === undefined) return UNIT_SECONDS[unit];
  const { startSeconds, endSeconds } = windowAt(nowSeconds);
  return endSeconds - startSeconds;
}

/** A rule's period in the words of its name: one minute, 5 minutes, 3 months. */
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

/** Whether a limit says nothing but so many hits per unit, as every rule file of today does. */
export function isPlain({ algorithm, windowAt, limitsFrom }: RuleLimit): boolean {
  return algorithm === undefined && windowAt === undefined && limitsFrom === undefined;
}

/** A limit in words: `600 per 5 minutes, bursts of 20`. */
export function describeLimit(limit: RuleLimit): string {
  if (limit.unlimited) return 'unlimited';
  const { requestsPerUnit, calendar } = limit;
  const period = calendar === undefined ? periodText(periodOf(limit)) : calendarText(calendar);
  return [`${String(requestsPerUnit)} per ${period}`, ...countingText(limit)].join(', ');
}

/** The words of a limit that is more than hits per unit, for answers in JSON. */
export function limitWords(limit: RuleLimit): { readonly words?: string } {
  return isPlain(limit) ? {} : { words: describeLimit(limit) };
}

function countingText({ algorithm, limitsFrom }: RuleLimit): readonly string[] {
  const words: string[] = [];
  if (algorithm !== undefined) {
    const { name, size, chargeDenied } = algorithm;
    if (name === 'gcra') words.push(`bursts of ${String(size)}`);
    if (name === 'sliding_window') words.push('sliding window');
    // Fixed windows charge what they refuse, the others do not: only the other way round has to be said.
    if (name === 'fixed_window') words.push('refused hits are not charged');
    else if (chargeDenied) words.push('refused hits are charged');
  }
  if (limitsFrom !== undefined) words.push(`for values without a field in ${limitsFrom.key}`);
  return words;
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
