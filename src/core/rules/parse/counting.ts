import { describe } from '../../../fields/located';
import { kindOf, type AlgorithmName } from '../../kinds/kinds';
import { windowSeconds } from '../../windows/length';
import type { LimitDefinition } from '../definition';
import type { RuleFields } from './rule-fields';
import type { NameOf } from './table/levels';
import { algorithmsOf, IN_FLIGHT } from './table/limit';

type RateLimit = RuleFields<'rate_limit'>;

/** How the limit is counted: `algorithm`, `burst`, `charge_denied`. */
type Counting = Pick<LimitDefinition, 'algorithm' | 'burst' | 'chargeDenied'>;

type Rate = Pick<LimitDefinition, 'requestsPerUnit' | 'unit' | 'unitMultiplier' | 'calendar'>;

/** Mistakes, alone or in combination with the rest of the limit, are reported. */
export function readCounting(fields: RateLimit, rate: Rate): Counting {
  const algorithm = readName(fields);
  const counting = {
    algorithm,
    burst: readBurst(fields, algorithm),
    chargeDenied: fields.has('charge_denied') ? fields.read('charge_denied') : undefined,
  };
  if (algorithm !== undefined && algorithm !== 'fixed_window') checkRange(fields, algorithm, rate);
  return counting;
}

function readName(fields: RateLimit): AlgorithmName | undefined {
  const name = fields.read('algorithm');
  // Limits of requests in flight are read elsewhere.
  if (name === undefined || name === IN_FLIGHT) return undefined;
  return name === 'token_bucket' ? 'gcra' : name;
}

function readBurst(fields: RateLimit, algorithm: AlgorithmName | undefined): number | undefined {
  const isOther = fields.has('burst') && refuseOtherKinds(fields, 'burst', algorithm);
  return isOther ? undefined : fields.read('burst');
}

/** Reports a field that limits of this kind do not have, and says whether it is one. A mistaken algorithm is reported already. */
function refuseOtherKinds(
  fields: RateLimit,
  name: NameOf<'rate_limit'>,
  algorithm: AlgorithmName | undefined,
): boolean {
  const [isMeant, mistake] = fields.rowOf(name).ofKinds ?? [];
  const isUnknown = fields.has('algorithm') || fields.isMisspelled('algorithm');
  if (isMeant === undefined || mistake === undefined || isMeant(kindOf({ algorithm })))
    return false;
  if (algorithm === undefined && isUnknown) return false;
  const needed = algorithmsOf(isMeant).join(' or ');
  const message = `${name} needs algorithm: ${needed}; found ${algorithm ?? 'no algorithm'}`;
  fields.error(name, mistake, message);
  return true;
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
