import { MAX_OPEN } from '../../budgets/budget';
import type { LimitDefinition } from '../definition';
import type { Fields } from './fields';
import type { Place } from './problem';
import type { Report } from './report';
import { isSet, present, readWholeNumber } from './values';

/** The algorithm of limits on open reservations (budgets.md section 5). */
export const IN_FLIGHT = 'in_flight';

export function isInFlight(fields: Fields<'rate_limit'>): boolean {
  const node = fields.get('algorithm');
  return node?.kind === 'scalar' && node.text === IN_FLIGHT;
}

/** What belongs to hits and periods; a flag that is off does not. */
const REFUSED = ['unit', 'unit_multiplier', 'calendar', 'burst', 'charge_denied'] as const;

const IDLE = ['time_zone', 'week_start', 'month_start'] as const;

/** A limit of requests in flight: a number, and no period. What is wrong in it is reported. `at`: of its map. */
export function readInFlight(
  fields: Fields<'rate_limit'>,
  at: Place,
  report: Report,
): Pick<LimitDefinition, 'unit' | 'requestsPerUnit' | 'isInFlight'> {
  for (const name of REFUSED) {
    const node = fields.get(name);
    if (node === undefined || !isSet(node)) continue;
    const message = `${name} cannot be combined with algorithm: in_flight, which counts open reservations; expected requests_per_unit alone`;
    report.error(node.at, 'bad-in-flight', message);
  }
  for (const name of IDLE) {
    const node = present(fields.get(name));
    const message = `${name} has no effect with algorithm: in_flight`;
    if (node !== undefined) report.warning(node.at, 'idle-key', message);
  }
  return { unit: undefined, requestsPerUnit: readNumber(fields, at, report), isInFlight: true };
}

function readNumber(fields: Fields<'rate_limit'>, at: Place, report: Report): number {
  const node = present(fields.get('requests_per_unit'));
  if (node === undefined) {
    if (fields.isMisspelled('requests_per_unit')) return 1;
    const message = `requests_per_unit is missing: expected how many may be in flight, a whole number from 1 to ${String(MAX_OPEN)}`;
    report.error(at, 'missing-requests-per-unit', message);
    return 1;
  }
  const range = { least: 1, most: MAX_OPEN };
  const found = readWholeNumber(node, 'requests_per_unit of in_flight', range, (message) => {
    report.error(node.at, 'bad-in-flight', message);
  });
  return found ?? 1;
}
