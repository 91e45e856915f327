import { didYouMean } from '../../../fields/names';
import { quote } from '../../../fields/located';
import type { Unit } from '../../units';
import { windowSeconds } from '../../windows/length';
import { isKnownZone } from '../../windows/time-zone';
import type { HasZone } from '../../windows/zone-data';
import type { CalendarDefinition, LimitDefinition } from '../definition';
import { warnOfCalendar } from './beside';
import type { RuleFields } from './rule-fields';
import { MAX_WINDOW_SECONDS } from './table/limit';

type RateLimit = RuleFields<'rate_limit'>;

/** Numbers of months that divide a year. */
const MONTHS_OF_PERIOD = [1, 2, 3, 4, 6];

export const CALENDAR_UNITS: readonly Unit[] = ['DAY', 'WEEK', 'MONTH', 'YEAR'];

/** The length of a limit's periods, and where they start. Mistakes are reported. */
export function readPeriod(
  fields: RateLimit,
  hasZone: HasZone | undefined,
): Pick<LimitDefinition, 'unit' | 'unitMultiplier' | 'calendar'> {
  const unit = fields.read('unit');
  const isCalendar = fields.read('calendar');
  const unitMultiplier = readMultiplier(fields, unit, isCalendar);
  const calendar = isCalendar ? readCalendar(fields, unit, hasZone) : undefined;
  if (!isCalendar) warnOfCalendar(fields, 'without calendar: true');
  return { unit, unitMultiplier, calendar };
}

function readMultiplier(
  fields: RateLimit,
  unit: Unit | undefined,
  isCalendar: boolean,
): number | undefined {
  const most = Math.floor(MAX_WINDOW_SECONDS / windowSeconds(unit ?? 'SECOND', 1));
  const multiplier = fields.whole('unit_multiplier', { least: 1, most }, 'bad-multiplier');
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
  if (unit !== 'WEEK') warnOfCalendar(fields, 'without unit: week', 'unit: week');
  if (unit !== 'MONTH') warnOfCalendar(fields, 'without unit: month', 'unit: month');
  return {
    timeZone: readTimeZone(fields, hasZone),
    weekStart: fields.read('week_start') ?? 'monday',
    monthStart: fields.read('month_start') ?? 1,
  };
}

function readTimeZone(fields: RateLimit, hasZone: HasZone | undefined): string {
  const name = fields.read('time_zone');
  if (name === undefined || name === '') return 'UTC';
  if (isKnownZone(name, hasZone)) return name;
  const hint = didYouMean(name, Intl.supportedValuesOf('timeZone'));
  const message = `time_zone ${quote(name)} is not an IANA time zone that Node or a newer tzdata here knows${hint}`;
  fields.error('time_zone', 'bad-time-zone', message);
  return 'UTC';
}
