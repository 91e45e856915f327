import { MAX_OPEN } from '../../budgets/budget';
import type { LimitDefinition } from '../definition';
import type { RuleFields } from './rule-fields';

/** The algorithm of limits on open reservations (budgets.md section 5). */
export const IN_FLIGHT = 'in_flight';

export function isInFlight(fields: RuleFields<'rate_limit'>): boolean {
  const node = fields.get('algorithm');
  return node?.kind === 'scalar' && node.text === IN_FLIGHT;
}

/** Fields for hits and periods; a flag that is off is allowed. */
const REFUSED = ['unit', 'unit_multiplier', 'calendar', 'burst', 'charge_denied'] as const;

const IDLE = ['time_zone', 'week_start', 'month_start'] as const;

/** A limit of requests in flight: a number without a period. Mistakes are reported. */
export function readInFlight(
  fields: RuleFields<'rate_limit'>,
): Pick<LimitDefinition, 'unit' | 'requestsPerUnit' | 'isInFlight'> {
  for (const name of REFUSED) {
    const message = `${name} cannot be combined with algorithm: in_flight, which counts open reservations; expected requests_per_unit alone`;
    if (fields.isSet(name)) fields.error(name, 'bad-in-flight', message);
  }
  for (const name of IDLE) {
    const message = `${name} has no effect with algorithm: in_flight`;
    if (fields.has(name)) fields.warning(name, 'idle-key', message);
  }
  return { unit: undefined, requestsPerUnit: readNumber(fields), isInFlight: true };
}

function readNumber(fields: RuleFields<'rate_limit'>): number {
  const name = 'requests_per_unit';
  const range = { least: 1, most: MAX_OPEN };
  if (fields.has(name))
    return fields.whole(name, range, 'bad-in-flight', 'requests_per_unit of in_flight') ?? 1;
  if (!fields.isMisspelled(name)) {
    const message = `requests_per_unit is missing: expected how many may be in flight, a whole number from 1 to ${String(MAX_OPEN)}`;
    fields.report.error(fields.map.at, 'missing-requests-per-unit', message);
  }
  return 1;
}
