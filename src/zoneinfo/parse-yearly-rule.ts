import type { YearlyChange, YearlyChanges, YearlyDay } from '../core/windows/zone-data';
import { checkOffset } from './check-offset';

const NAME = '(?:[A-Za-z]{3,}|<[A-Za-z0-9+-]+>)';
const TIME = '([+-]?)(\\d{1,3})(?::(\\d\\d))?(?::(\\d\\d))?';

const RULE = new RegExp(`^${NAME}(${TIME})(?:${NAME}(${TIME})?,([^,]+),([^,]+))?$`);
const CHANGE = /^(?:M(\d{1,2})\.([1-5])\.([0-6])|J(\d{1,3})|(\d{1,3}))(?:\/(.+))?$/;
const WHOLE_TIME = new RegExp(`^${TIME}$`);

const HOUR = 3_600;
/** The default of a rule. */
const DEFAULT_CHANGE_SECONDS = 2 * HOUR;
/** RFC 9636 section 3.3.2. */
const MAX_CHANGE_HOURS = 167;
const MAX_OFFSET_HOURS = 24;

export interface ZoneRule {
  /** Seconds east of UTC, outside of summer time. */
  readonly standard: number;
  /** Undefined: nothing changes. */
  readonly yearly: YearlyChanges | undefined;
}

/** The last line of a TZif file: `CET-1CEST,M3.5.0,M10.5.0/3`. Throws an error that says what was expected. */
export function parseYearlyRule(text: string): ZoneRule {
  const found = RULE.exec(text);
  if (found === null) throw ruleError(text);
  // The four parts of an offset follow its text and are parsed again.
  const [, winterText = '', , , , , summerText, , , , , begins, ends] = found;
  const standard = offsetOf(winterText);
  if (begins === undefined || ends === undefined) return { standard, yearly: undefined };
  const summer = summerText === undefined ? checkOffset(standard + HOUR) : offsetOf(summerText);
  const yearly = { standard, summer, begins: changeOf(begins, text), ends: changeOf(ends, text) };
  return { standard, yearly };
}

function ruleError(text: string): Error {
  const shown = JSON.stringify(text.slice(0, 60));
  return new Error(
    `its last line is ${shown}: expected a rule such as "CET-1CEST,M3.5.0,M10.5.0/3"`,
  );
}

/** West of UTC in the text, east of it in the result. */
function offsetOf(text: string): number {
  const seconds = secondsOf(text, MAX_OFFSET_HOURS);
  if (seconds === undefined) throw ruleError(text);
  // No negative zero.
  return checkOffset(0 - seconds);
}

function changeOf(text: string, rule: string): YearlyChange {
  const found = CHANGE.exec(text);
  if (found === null) throw ruleError(rule);
  const [, month, week, weekday, julian, plain, time] = found;
  const seconds = time === undefined ? DEFAULT_CHANGE_SECONDS : secondsOf(time, MAX_CHANGE_HOURS);
  const day = dayOf({ month, week, weekday, julian, plain });
  if (seconds === undefined || day === undefined) throw ruleError(rule);
  return { day, seconds };
}

type DayTexts = Readonly<
  Record<'month' | 'week' | 'weekday' | 'julian' | 'plain', string | undefined>
>;

function dayOf({ month, week, weekday, julian, plain }: DayTexts): YearlyDay | undefined {
  const within = (text: string, least: number, most: number): number | undefined => {
    const value = Number(text);
    return value >= least && value <= most ? value : undefined;
  };
  if (julian !== undefined) {
    const day = within(julian, 1, 365);
    return day === undefined ? undefined : { kind: 'day-without-leap', day };
  }
  if (plain !== undefined) {
    const day = within(plain, 0, 365);
    return day === undefined ? undefined : { kind: 'day', day };
  }
  const found = within(month ?? '', 1, 12);
  if (found === undefined) return undefined;
  return { kind: 'weekday', month: found, week: Number(week), day: Number(weekday) };
}

function secondsOf(text: string, maxHours: number): number | undefined {
  const found = WHOLE_TIME.exec(text);
  if (found === null) return undefined;
  const [, sign, ...parts] = found;
  const [hours = 0, minutes = 0, seconds = 0] = parts.map((part) => Number(part || 0));
  if (hours > maxHours || minutes > 59 || seconds > 59) return undefined;
  const total = hours * HOUR + minutes * 60 + seconds;
  return sign === '-' ? 0 - total : total;
}
