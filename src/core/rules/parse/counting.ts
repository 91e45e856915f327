import { describe } from '../../../fields/located';
import { KINDS, kindOf, type AlgorithmName } from '../../kinds/kinds';
import { windowSeconds } from '../../windows/length';
import type { LimitDefinition } from '../definition';
import type { RuleFields } from './rule-fields';
import { MAX_OPEN } from '../../budgets/budget';

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

type RateLimit = RuleFields<'rate_limit'>;

/** How the limit is counted: `algorithm`, `burst`, `charge_denied`. */
type Counting = Pick<LimitDefinition, 'algorithm' | 'burst' | 'chargeDenied'>;

/** The algorithms of the table; `token_bucket` is what Envoy's users search for. */
export const ALGORITHMS = [
  ...new Set(KINDS.map(({ words }) => words.name)),
  'token_bucket',
  IN_FLIGHT,
] as const;

interface Rate extends Pick<LimitDefinition, 'unit' | 'unitMultiplier' | 'calendar'> {
  readonly requestsPerUnit: number;
  readonly unlimited: boolean;
}

/** Mistakes, alone or in combination with the rest of the limit, are reported. */
export function readCounting(fields: RateLimit, rate: Rate): Counting {
  if (rate.unlimited) {
    refuseBesideUnlimited(fields);
    return {};
  }
  const algorithm = readName(fields);
  const counting = {
    algorithm,
    burst: readBurst(fields, algorithm),
    chargeDenied: fields.has('charge_denied') ? fields.flag('charge_denied') : undefined,
  };
  if (algorithm !== undefined && algorithm !== 'fixed_window') checkRange(fields, algorithm, rate);
  return counting;
}

function refuseBesideUnlimited(fields: RateLimit): void {
  for (const name of ['algorithm', 'burst', 'charge_denied', 'block'] as const) {
    const message = `${name} cannot be combined with unlimited: true; expected one or the other`;
    if (fields.has(name)) fields.error(name, 'algorithm-beside-unlimited', message);
  }
}

function readName(fields: RateLimit): AlgorithmName | undefined {
  const name = fields.oneOf('algorithm', ALGORITHMS, 'bad-algorithm');
  // Limits of requests in flight are read elsewhere.
  if (name === undefined || name === IN_FLIGHT) return undefined;
  return name === 'token_bucket' ? 'gcra' : name;
}

function readBurst(fields: RateLimit, algorithm: AlgorithmName | undefined): number | undefined {
  if (!fields.has('burst')) return undefined;
  const isMistaken = algorithm === undefined && fields.has('algorithm');
  if (!kindOf({ algorithm }).hasBurst && !isMistaken && !fields.isMisspelled('algorithm')) {
    const message = `burst needs algorithm: gcra; found ${algorithm ?? 'no algorithm'}`;
    fields.error('burst', 'burst-without-gcra', message);
    return undefined;
  }
  const range = { least: 1, most: kindOf({ algorithm: 'gcra' }).range.maxLimit };
  return fields.whole('burst', range, 'bad-burst');
}

/** A monthly number of tokens exceeds what these count exactly. */
const LARGER_LIMITS =
  'larger ones, such as a monthly budget of tokens, need fixed_window, with calendar: true for months of the calendar';

/** Reports limits out of the range of their algorithm. */
function checkRange(fields: RateLimit, algorithm: AlgorithmName, rate: Rate): void {
  const { requestsPerUnit } = rate;
  const { maxLimit } = kindOf({ algorithm }).range;
  const requests = fields.given('requests_per_unit');
  if (requests !== undefined && requestsPerUnit > maxLimit) {
    const message = `requests_per_unit must be at most ${String(maxLimit)} under ${algorithm}; found ${describe(requests)}; ${LARGER_LIMITS}`;
    fields.error('requests_per_unit', 'limit-too-large', message);
  }
  if (requests !== undefined && requestsPerUnit === 0) {
    const message = `algorithm has no effect with requests_per_unit: 0, which blocks every request`;
    fields.warning('algorithm', 'idle-key', message);
  }
  checkPeriod(fields, algorithm, rate);
}

function checkPeriod(
  fields: RateLimit,
  algorithm: AlgorithmName,
  { unit, unitMultiplier = 1, calendar }: Rate,
): void {
  const { maxPeriodSeconds, hasCalendar } = kindOf({ algorithm }).range;
  if (calendar !== undefined && !hasCalendar) {
    const message = `calendar: true needs algorithm: fixed_window, because its periods differ in length; found ${algorithm}`;
    fields.error('algorithm', 'calendar-needs-fixed', message);
  } else if (unit !== undefined && windowSeconds(unit, unitMultiplier) > maxPeriodSeconds) {
    const found = String(windowSeconds(unit, unitMultiplier));
    const message = `a period must be at most ${String(maxPeriodSeconds)} seconds long under ${algorithm}; found ${found}; ${LARGER_LIMITS}`;
    const name = fields.get('unit_multiplier') === undefined ? 'algorithm' : 'unit_multiplier';
    fields.error(name, 'period-too-long', message);
  }
}
