import { type FindZone, type ZoneOrigin, toCivilDate, toDayNumber } from './zone-data';
import { keepWindow, type WindowAt, type WindowSpan } from './length';
import { createTimeZone, type TimeZone } from './time-zone';

/** A calendar period of a rule (`calendar: true`). */
export interface CalendarPeriod {
  readonly unit: CalendarUnit;
  /** An IANA name that the runtime, or newer data, know. */
  readonly timeZone: string;
  readonly weekStart: WeekStart;
  /** First day of a month, 1 to 28. */
  readonly monthStart: number;
  /** Months of a period, counted from January: 1, 2, 3, 4 or 6; 1 for other units. */
  readonly multiplier: number;
  /** Origin of the zone's data; undefined: the runtime's, whichever they are. */
  readonly origin?: ZoneOrigin | undefined;
}

export type CalendarUnit = 'DAY' | 'WEEK' | 'MONTH' | 'YEAR';
export type WeekStart = 'monday' | 'sunday' | 'saturday';

/**
 * The windows of a rule set: rules with equal periods share them, and periods of a zone share its clock. Without `findZone` all
 * zones come from the runtime.
 */
export function createCalendar(findZone?: FindZone): (period: CalendarPeriod) => WindowAt {
  const zones = new Map<string, TimeZone>();
  const known = new Map<string, WindowAt>();
  return (period) => {
    const { timeZone } = period;
    const name = periodName(period);
    const found = known.get(name);
    if (found !== undefined) return found;
    const zone = zones.get(timeZone) ?? createTimeZone(timeZone, findZone?.(timeZone).data);
    zones.set(timeZone, zone);
    const windowAt = keepWindow((nowSeconds) => calendarWindow(zone, period, nowSeconds));
    known.set(name, windowAt);
    return windowAt;
  };
}

/** The identity of a period among all of them; records in stores have it. */
export function periodName(period: CalendarPeriod): string {
  const { multiplier, unit, timeZone, weekStart, monthStart } = period;
  return `c${String(multiplier)}${unit}/${timeZone}/${weekStart}/${String(monthStart)}`;
}

/** The window that contains the moment, its end excluded. */
function calendarWindow(zone: TimeZone, period: CalendarPeriod, nowSeconds: number): WindowSpan {
  let day = firstDay(period, zone.dayAt(Math.floor(nowSeconds)));
  let startSeconds = zone.startOfDay(day);
  for (;;) {
    day = firstDayOfNext(period, day);
    const endSeconds = zone.startOfDay(day);
    // A clock that went back over midnight shows yesterday's date in today's window; a skipped day is empty.
    if (nowSeconds < endSeconds)
      return { startSeconds, endSeconds, keyEnd: `_${String(startSeconds)}~c` };
    startSeconds = endSeconds;
  }
}

/** Weekday of 1970-01-01, a Thursday, counted from the first day of the week. */
const WEEKDAY_OF_1970: Readonly<Record<WeekStart, number>> = { monday: 3, sunday: 4, saturday: 5 };

/** The first day of the period that contains a day, both counted from 1970-01-01. */
function firstDay(period: CalendarPeriod, day: number): number {
  const { unit, weekStart, monthStart, multiplier } = period;
  if (unit === 'DAY') return day;
  if (unit === 'WEEK') return day - ((((day + WEEKDAY_OF_1970[weekStart]) % 7) + 7) % 7);
  const { year, month, day: dayOfMonth } = toCivilDate(day);
  if (unit === 'YEAR') return toDayNumber({ year, month: 1, day: 1 });
  const months = year * 12 + month - (dayOfMonth < monthStart ? 2 : 1);
  return dayOfMonths(months - (months % multiplier), monthStart);
}

/** The first day of the period after the one that begins with this day. */
function firstDayOfNext({ unit, monthStart, multiplier }: CalendarPeriod, day: number): number {
  if (unit === 'DAY') return day + 1;
  if (unit === 'WEEK') return day + 7;
  const { year, month } = toCivilDate(day);
  if (unit === 'YEAR') return toDayNumber({ year: year + 1, month: 1, day: 1 });
  return dayOfMonths(year * 12 + month - 1 + multiplier, monthStart);
}

/** The day of the month `months` after January of the year 0. */
function dayOfMonths(months: number, day: number): number {
  return toDayNumber({ year: Math.floor(months / 12), month: (months % 12) + 1, day });
}
