/** A date of the Gregorian calendar. */
interface CivilDate {
  readonly year: number;
  /** 1 to 12. */
  readonly month: number;
  /** 1 to 31. */
  readonly day: number;
}

const DAYS_OF_400_YEARS = 146_097;

/** From March 1 of the year 0 to 1970-01-01. A year that begins in March has its leap day at the end. */
const DAYS_TO_1970 = 719_468;

/** Days from 1970-01-01 to a date. */
export function toDayNumber({ year, month, day }: CivilDate): number {
  const marchYear = month > 2 ? year : year - 1;
  const monthsFromMarch = (month + 9) % 12;
  const dayOfYear = Math.floor((153 * monthsFromMarch + 2) / 5) + day - 1;
  const leapDays =
    Math.floor(marchYear / 4) - Math.floor(marchYear / 100) + Math.floor(marchYear / 400);
  return marchYear * 365 + leapDays + dayOfYear - DAYS_TO_1970;
}

/** The date of a day number, counted from 1970-01-01. */
export function toCivilDate(dayNumber: number): CivilDate {
  const days = dayNumber + DAYS_TO_1970;
  const era = Math.floor(days / DAYS_OF_400_YEARS);
  const dayOfEra = days - era * DAYS_OF_400_YEARS;
  const leapDays =
    Math.floor(dayOfEra / 1_460) - Math.floor(dayOfEra / 36_524) + Math.floor(dayOfEra / 146_096);
  const yearOfEra = Math.floor((dayOfEra - leapDays) / 365);
  const dayOfYear =
    dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const monthsFromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * monthsFromMarch + 2) / 5) + 1;
  const month = monthsFromMarch < 10 ? monthsFromMarch + 3 : monthsFromMarch - 9;
  return { year: era * 400 + yearOfEra + (month > 2 ? 0 : 1), month, day };
}

/** The offsets of a zone over time, as plain data that may cross threads and processes. */
export interface ZoneData {
  /** Unix seconds at which the offset changes, ascending. */
  readonly changes: readonly number[];
  /** Seconds east of UTC: before the first change, then from each change on. */
  readonly offsets: readonly number[];
  /** The changes after the last listed one; undefined: its offset stays. */
  readonly yearly: YearlyChanges | undefined;
}

/** Two changes that recur each year. */
export interface YearlyChanges {
  /** Seconds east of UTC. */
  readonly standard: number;
  readonly summer: number;
  readonly begins: YearlyChange;
  readonly ends: YearlyChange;
}

export interface YearlyChange {
  readonly day: YearlyDay;
  /** From midnight of that day, by the clock before the change; may be days away. */
  readonly seconds: number;
}

export type YearlyDay =
  /** The weekday (0 is Sunday) of the first to fourth week of a month; 5 is its last. */
  | {
      readonly kind: 'weekday';
      readonly month: number;
      readonly week: number;
      readonly day: number;
    }
  /** 1 to 365; February 29 is never counted. */
  | { readonly kind: 'day-without-leap'; readonly day: number }
  /** 0 to 365, February 29 among them. */
  | { readonly kind: 'day'; readonly day: number };

/** The origin of a zone's data. */
export interface ZoneOrigin {
  readonly source: ZoneSource;
  /** Release of tzdata: `2026f`; undefined: the source does not report it. */
  readonly release: string | undefined;
}

/** Node, the files of the system, or those of the package. */
export type ZoneSource = 'runtime' | 'system' | 'package';

const OWNERS: Readonly<Record<ZoneSource, string>> = {
  runtime: 'Node',
  system: 'the system',
  package: 'Weir',
};

/** `2026f of Weir`. */
export function originText({ source, release = 'unknown' }: ZoneOrigin): string {
  return `${release} of ${OWNERS[source]}`;
}

/** A zone in the newest data that have it. */
export interface FoundZone {
  /** Undefined: its offsets come from the runtime. */
  readonly data: ZoneData | undefined;
  readonly origin: ZoneOrigin;
}

/** Finds a zone by its IANA name; always the same. */
export type FindZone = (timeZone: string) => FoundZone;

/** Whether data besides the runtime's have a zone of this name. */
export type HasZone = (timeZone: string) => boolean;

/** The zones of a process. */
export interface ZoneLookup {
  /** In the newest data that have the zone and can be read. */
  readonly find: FindZone;
  readonly has: HasZone;
}

/** The offsets of a zone from UTC, in seconds east of it. */
export interface ZoneOffsets {
  readonly at: (second: number) => number;
  /** A later second before which the offset does not change. */
  readonly staysUntil: (second: number) => number;
}

const DAY_SECONDS = 86_400;

export function offsetsOf({ changes, offsets, yearly }: ZoneData): ZoneOffsets {
  const last = changes.at(-1) ?? -Infinity;
  const isAfter = (second: number): boolean => second >= last;
  return {
    at: (second) =>
      yearly !== undefined && isAfter(second)
        ? lastYearly(yearly, second).offset
        : (offsets[countUntil(changes, second)] as number),
    staysUntil: (second) => {
      if (!isAfter(second)) return changes[countUntil(changes, second)] as number;
      return yearly === undefined ? Infinity : nextYearly(yearly, second);
    },
  };
}

/** How many of the ascending seconds are not after this one. */
function countUntil(ascending: readonly number[], second: number): number {
  let [low, high] = [0, ascending.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ascending[middle] as number) <= second) low = middle + 1;
    else high = middle;
  }
  return low;
}

interface Change {
  readonly at: number;
  readonly offset: number;
}

/** The latest change that is not after a second. Summer time that ends when it begins anew continues. */
function lastYearly(yearly: YearlyChanges, second: number): Change {
  let latest: Change = { at: -Infinity, offset: yearly.standard };
  for (const change of changesAround(yearly, second))
    if (change.at <= second && change.at >= latest.at) latest = change;
  return latest;
}

function nextYearly(yearly: YearlyChanges, second: number): number {
  let next = Infinity;
  for (const { at } of changesAround(yearly, second)) if (at > second) next = Math.min(next, at);
  return next;
}

/** The changes of this second's year and of its neighbours, which may fall on New Year; ends before beginnings. */
function changesAround(
  { standard, summer, begins, ends }: YearlyChanges,
  second: number,
): readonly Change[] {
  const { year } = toCivilDate(Math.floor((second + standard) / DAY_SECONDS));
  const years = [year - 1, year, year + 1];
  return [
    ...years.map((one) => ({ at: secondOf(ends, one) - summer, offset: standard })),
    ...years.map((one) => ({ at: secondOf(begins, one) - standard, offset: summer })),
  ];
}

/** The second of a change, by the clock before it. */
function secondOf({ day, seconds }: YearlyChange, year: number): number {
  return dayNumberOf(day, year) * DAY_SECONDS + seconds;
}

function dayNumberOf(day: YearlyDay, year: number): number {
  if (day.kind === 'weekday') return weekdayOf(day, year);
  const first = toDayNumber({ year, month: 1, day: 1 });
  if (day.kind === 'day') return first + day.day;
  const march = toDayNumber({ year, month: 3, day: 1 });
  return day.day < MARCH_1 ? first + day.day - 1 : march + day.day - MARCH_1;
}

/** Day number in a year without February 29, counted from 1. */
const MARCH_1 = 60;

/** Weekday of 1970-01-01, a Thursday, counted from Sunday. */
const WEEKDAY_OF_1970 = 4;

function weekdayOf(
  { month, week, day }: Extract<YearlyDay, { readonly kind: 'weekday' }>,
  year: number,
): number {
  const first = toDayNumber({ year, month, day: 1 });
  const end =
    month === 12
      ? toDayNumber({ year: year + 1, month: 1, day: 1 })
      : toDayNumber({ year, month: month + 1, day: 1 });
  const weekday = (((first + WEEKDAY_OF_1970) % 7) + 7) % 7;
  const found = first + ((day - weekday + 7) % 7) + (week - 1) * 7;
  return found < end ? found : found - 7;
}
