import { didYouMean } from '../../../fields/names';
import { quote } from '../../../fields/located';
import type { Unit } from '../../units';
import type { WeekStart } from '../../windows/calendar';
import { windowSeconds } from '../../windows/length';
import { isKnownZone } from '../../windows/time-zone';
import type { HasZone } from '../../windows/zone-data';
import type { CalendarDefinition, LimitDefinition } from '../definition';
import type { RuleFields } from './rule-fields';

type RateLimit = RuleFields<'rate_limit'>;

/** Ten years of 365 days. */
export const MAX_WINDOW_SECONDS = 315_360_000;

/** Numbers of months that divide a year. */
const MONTHS_OF_PERIOD = [1, 2, 3, 4, 6];

export const CALENDAR_UNITS: readonly (Unit | undefined)[] = ['DAY', 'WEEK', 'MONTH', 'YEAR'];
export const WEEK_STARTS: readonly WeekStart[] = ['monday', 'sunday', 'saturday'];

/** Every month has 28 days. */
export const MONTH_STARTS = { least: 1, most: 28 };

/** Keys for the start of a calendar period. */
const CALENDAR_KEYS = ['time_zone', 'week_start', 'month_start'] as const;

/** The fields of a limit that are read before its period. */
interface PeriodContext {
  readonly unit: Unit | undefined;
  readonly unlimited: boolean;
  readonly hasZone: HasZone | undefined;
}

/** The length of a limit's periods, and where they start. Mistakes are reported. */
export function readPeriod(
  fields: RateLimit,
  { unit, unlimited, hasZone }: PeriodContext,
): Pick<LimitDefinition, 'unitMultiplier' | 'calendar'> {
  const isCalendar = fields.flag('calendar');
  if (unlimited) {
    refuseBesideUnlimited(fields, isCalendar);
    return {};
  }
  const unitMultiplier = readMultiplier(fields, unit, isCalendar);
  const calendar = isCalendar ? readCalendar(fields, unit, hasZone) : undefined;
  if (!isCalendar) warnOfIdle(fields, CALENDAR_KEYS, 'without calendar: true');
  return { unitMultiplier, calendar };
}

function refuseBesideUnlimited(fields: RateLimit, isCalendar: boolean): void {
  for (const name of ['unit_multiplier', 'calendar'] as const) {
    if (!fields.has(name) || (name === 'calendar' && !isCalendar)) continue;
    const message = `${name} cannot be combined with unlimited: true; expected one or the other`;
    fields.error(name, 'unit-beside-unlimited', message);
  }
  warnOfIdle(fields, CALENDAR_KEYS, 'with unlimited: true');
}

function readMultiplier(
  fields: RateLimit,
  unit: Unit | undefined,
  isCalendar: boolean,
): number | undefined {
  const range = {
    least: 1,
    most: Math.floor(MAX_WINDOW_SECONDS / windowSeconds(unit ?? 'SECOND', 1)),
  };
  const multiplier = fields.whole('unit_multiplier', range, 'bad-multiplier');
  if (multiplier === undefined || !isCalendar || multiplier === 1) return multiplier;
  if (unit !== undefined && unit !== 'MONTH') {
    const message = 'unit_multiplier with calendar: true needs unit: month';
    fields.error('unit_multiplier', 'bad-multiplier', message);
  } else if (unit !== undefined && !MONTHS_OF_PERIOD.includes(multiplier)) {
    const message = `unit_multiplier of calendar months must be 1, 2, 3, 4 or 6; found ${String(multiplier)}`;
    fields.error('unit_multiplier', 'bad-multiplier', message);
  }
  return multiplier;
}

function readCalendar(
  fields: RateLimit,
  unit: Unit | undefined,
  hasZone: HasZone | undefined,
): CalendarDefinition | undefined {
  if (unit !== undefined && !CALENDAR_UNITS.includes(unit)) {
    const message = `calendar: true needs the unit day, week, month or year; found ${unit.toLowerCase()}`;
    fields.error('calendar', 'calendar-unit', message);
    return undefined;
  }
  if (unit !== 'WEEK') warnOfIdle(fields, ['week_start'], 'without unit: week');
  if (unit !== 'MONTH') warnOfIdle(fields, ['month_start'], 'without unit: month');
  return {
    timeZone: readTimeZone(fields, hasZone),
    weekStart: fields.oneOf('week_start', WEEK_STARTS, 'bad-week-start') ?? 'monday',
    monthStart: fields.whole('month_start', MONTH_STARTS, 'bad-month-start') ?? 1,
  };
}

function readTimeZone(fields: RateLimit, hasZone: HasZone | undefined): string {
  const name = fields.text('time_zone');
  if (name === undefined || name === '') return 'UTC';
  if (isKnownZone(name, hasZone)) return name;
  const hint = didYouMean(name, Intl.supportedValuesOf('timeZone'));
  const message = `time_zone ${quote(name)} is not an IANA time zone that Node or a newer tzdata here knows${hint}`;
  fields.error('time_zone', 'bad-time-zone', message);
  return 'UTC';
}

function warnOfIdle(
  fields: RateLimit,
  names: readonly (typeof CALENDAR_KEYS)[number][],
  where: string,
): void {
  for (const name of names)
    if (fields.has(name)) fields.warning(name, 'idle-key', `${name} has no effect ${where}`);
}
