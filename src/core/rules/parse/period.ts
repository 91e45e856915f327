import type { Unit } from '../../units';
import type { WeekStart } from '../../windows/calendar';
import { windowSeconds } from '../../windows/length';
import { isTimeZone } from '../../windows/time-zone';
import { nearestName } from '../../nearest-name';
import type { CalendarDefinition, LimitDefinition } from '../definition';
import type { Fields } from './fields';
import { quote } from './located';
import type { Report } from './report';
import { present, readFlag, readOneOf, readText, readWholeNumber } from './values';

/** Ten years of 365 days. */
const MAX_WINDOW_SECONDS = 315_360_000;

/** Months of which a year is a whole number of periods. */
const MONTHS_OF_PERIOD = [1, 2, 3, 4, 6];

const CALENDAR_UNITS: readonly (Unit | undefined)[] = ['DAY', 'WEEK', 'MONTH', 'YEAR'];
const WEEK_STARTS: readonly WeekStart[] = ['monday', 'sunday', 'saturday'];

/** Keys that say where a calendar period starts. */
const CALENDAR_KEYS = ['time_zone', 'week_start', 'month_start'] as const;

/** How long the periods of a limit are, and where they start. What is wrong in it is reported. */
export function readPeriod(
  fields: Fields<'rate_limit'>,
  unit: Unit | undefined,
  unlimited: boolean,
  report: Report,
): Pick<LimitDefinition, 'unitMultiplier' | 'calendar'> {
  const isCalendar = readFlag(fields.get('calendar'), 'calendar', report);
  if (unlimited) {
    refuseBesideUnlimited(fields, isCalendar, report);
    return {};
  }
  const unitMultiplier = readMultiplier(fields, unit, isCalendar, report);
  const calendar = isCalendar ? readCalendar(fields, unit, report) : undefined;
  if (!isCalendar) warnOfIdle(fields, CALENDAR_KEYS, 'without calendar: true', report);
  return { unitMultiplier, calendar };
}

function refuseBesideUnlimited(
  fields: Fields<'rate_limit'>,
  isCalendar: boolean,
  report: Report,
): void {
  for (const name of ['unit_multiplier', 'calendar'] as const) {
    const node = present(fields.get(name));
    if (node === undefined || (name === 'calendar' && !isCalendar)) continue;
    const message = `${name} cannot be combined with unlimited: true; expected one or the other`;
    report.error(node.at, 'unit-beside-unlimited', message);
  }
  warnOfIdle(fields, CALENDAR_KEYS, 'with unlimited: true', report);
}

function readMultiplier(
  fields: Fields<'rate_limit'>,
  unit: Unit | undefined,
  isCalendar: boolean,
  report: Report,
): number | undefined {
  const node = present(fields.get('unit_multiplier'));
  if (node === undefined) return undefined;
  const mistake = (message: string): void => {
    report.error(node.at, 'bad-multiplier', message);
  };
  const most = Math.floor(MAX_WINDOW_SECONDS / windowSeconds(unit ?? 'SECOND', 1));
  const multiplier = readWholeNumber(node, 'unit_multiplier', { least: 1, most }, mistake);
  if (multiplier === undefined || !isCalendar || multiplier === 1) return multiplier;
  if (unit !== 'MONTH') {
    if (unit !== undefined) mistake('unit_multiplier with calendar: true needs unit: month');
  } else if (!MONTHS_OF_PERIOD.includes(multiplier)) {
    const found = `found ${String(multiplier)}`;
    mistake(`unit_multiplier of calendar months must be 1, 2, 3, 4 or 6; ${found}`);
  }
  return multiplier;
}

function readCalendar(
  fields: Fields<'rate_limit'>,
  unit: Unit | undefined,
  report: Report,
): CalendarDefinition | undefined {
  const node = fields.get('calendar');
  if (node !== undefined && unit !== undefined && !CALENDAR_UNITS.includes(unit)) {
    const message = `calendar: true needs the unit day, week, month or year; found ${unit.toLowerCase()}`;
    report.error(node.at, 'calendar-unit', message);
    return undefined;
  }
  if (unit !== 'WEEK') warnOfIdle(fields, ['week_start'], 'without unit: week', report);
  if (unit !== 'MONTH') warnOfIdle(fields, ['month_start'], 'without unit: month', report);
  return {
    timeZone: readTimeZone(fields, report),
    weekStart: readWeekStart(fields, report),
    monthStart: readMonthStart(fields, report),
  };
}

function readTimeZone(fields: Fields<'rate_limit'>, report: Report): string {
  const node = fields.get('time_zone');
  const name = readText(node, 'time_zone', report);
  if (node === undefined || name === undefined || name === '') return 'UTC';
  if (isTimeZone(name)) return name;
  const nearest = nearestName(name, Intl.supportedValuesOf('timeZone'));
  const hint = nearest === undefined ? '' : `; did you mean ${quote(nearest)}?`;
  const message = `time_zone ${quote(name)} is not an IANA time zone that this version of Node knows${hint}`;
  report.error(node.at, 'bad-time-zone', message);
  return 'UTC';
}

function readWeekStart(fields: Fields<'rate_limit'>, report: Report): WeekStart {
  const node = fields.get('week_start');
  const found = readOneOf(node, 'week_start', WEEK_STARTS, report, (at, message) => {
    report.error(at, 'bad-week-start', message);
  });
  return found ?? 'monday';
}

/** Every month has 28 days. */
function readMonthStart(fields: Fields<'rate_limit'>, report: Report): number {
  const node = present(fields.get('month_start'));
  if (node === undefined) return 1;
  const found = readWholeNumber(node, 'month_start', { least: 1, most: 28 }, (message) => {
    report.error(node.at, 'bad-month-start', message);
  });
  return found ?? 1;
}

function warnOfIdle(
  fields: Fields<'rate_limit'>,
  names: readonly (typeof CALENDAR_KEYS)[number][],
  where: string,
  report: Report,
): void {
  for (const name of names) {
    const node = present(fields.get(name));
    if (node !== undefined) report.warning(node.at, 'idle-key', `${name} has no effect ${where}`);
  }
}
