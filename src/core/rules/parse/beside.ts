import { quote } from '../../../fields/located';
import type { ErrorClass } from '../../../fields/report';
import { namesOf, type NameOf } from './table/levels';
import { CALENDAR_NEEDS, type CalendarNeed } from './table/row';
import type { RuleFields } from './rule-fields';

type RateLimit = RuleFields<'rate_limit'>;

const excludedAs = (mistake: ErrorClass) =>
  namesOf('rate_limit', ({ excludes }) => excludes?.unlimited === mistake);

/** The fields that say the period of a limit, and those that say how hits count in it. */
const PERIOD = excludedAs('unit-beside-unlimited');
const COUNTING = excludedAs('algorithm-beside-unlimited');

/** Reports fields of a limit that have no place beside `unlimited: true`. */
export function refuseBesideUnlimited(fields: RateLimit): void {
  refuseUnit(fields);
  const isCalendar = fields.read('calendar');
  const period = PERIOD.filter((name) => name !== 'unit' && (name !== 'calendar' || isCalendar));
  refuseExcluded(fields, period);
  warnOfCalendar(fields, 'with unlimited: true');
  refuseExcluded(fields, COUNTING);
}

/** The message shows the unit. */
function refuseUnit(fields: RateLimit): void {
  const name = fields.text('unit') ?? '';
  const message = `unit ${quote(name)} cannot be combined with unlimited: true; expected one or the other`;
  if (name !== '') fields.error('unit', 'unit-beside-unlimited', message);
}

/** Reports those of some fields that `unlimited: true` excludes. */
export function refuseExcluded<L extends 'rate_limit' | 'descriptor'>(
  fields: RuleFields<L>,
  names: readonly NameOf<L>[],
): void {
  for (const name of names) {
    const mistake = fields.rowOf(name).excludes?.unlimited;
    if (mistake === undefined || !(fields.has(name) || fields.isNamed(name))) continue;
    const message = `${name} cannot be combined with unlimited: true; expected one or the other`;
    fields.error(name, mistake, message);
  }
}

/** Reports fields for periods and hits beside `algorithm: in_flight`; a flag that is off is allowed. */
export function refuseBesideInFlight(fields: RateLimit): void {
  for (const name of [...PERIOD, ...COUNTING]) {
    const mistake = fields.rowOf(name).excludes?.in_flight;
    if (mistake === undefined || !fields.isSet(name)) continue;
    const message = `${name} cannot be combined with algorithm: in_flight, which counts open reservations; expected requests_per_unit alone`;
    fields.error(name, mistake, message);
  }
  warnOfCalendar(fields, 'with algorithm: in_flight');
}

const NEEDING = CALENDAR_NEEDS.map((need) => {
  const names = namesOf('rate_limit', ({ needs }) => needs === need);
  return { need, names };
});

/** Warns of fields of a calendar: of those that need `missing`, or of all. */
export function warnOfCalendar(fields: RateLimit, where: string, missing?: CalendarNeed): void {
  for (const { need, names } of NEEDING) {
    if (missing !== undefined && need !== missing) continue;
    for (const name of names)
      if (fields.has(name)) fields.warning(name, 'idle-key', `${name} has no effect ${where}`);
  }
}
