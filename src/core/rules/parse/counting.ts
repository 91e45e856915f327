import { KINDS, kindOf, type AlgorithmName } from '../../kinds/kinds';
import { windowSeconds } from '../../windows/length';
import type { LimitDefinition } from '../definition';
import type { Fields } from './fields';
import { IN_FLIGHT } from './in-flight';
import { describe, type Located } from './located';
import type { Place } from './problem';
import type { Report } from './report';
import { present, readFlag, readOneOf, readWholeNumber } from './values';

type RateLimit = Fields<'rate_limit'>;

/** How the limit is counted: `algorithm`, `burst`, `charge_denied`. */
type Counting = Pick<LimitDefinition, 'algorithm' | 'burst' | 'chargeDenied'>;

/** Those of the table; `token_bucket` is what Envoy's users search for. */
const NAMES = [
  ...new Set(KINDS.map(({ words }) => words.name)),
  'token_bucket',
  IN_FLIGHT,
] as const;

/** What is wrong in it, by itself or beside the rest of its limit, is reported. */
export function readCounting(
  fields: RateLimit,
  limit: Pick<LimitDefinition, 'unit' | 'unitMultiplier' | 'calendar'> & {
    readonly requestsPerUnit: number;
    readonly unlimited: boolean;
  },
  report: Report,
): Counting {
  if (limit.unlimited) {
    refuseBesideUnlimited(fields, report);
    return {};
  }
  const node = fields.get('algorithm');
  const algorithm = readName(node, report);
  const chargeNode = present(fields.get('charge_denied'));
  const counting = {
    algorithm,
    burst: readBurst(fields, algorithm, report),
    chargeDenied: chargeNode && readFlag(chargeNode, 'charge_denied', report),
  };
  if (node !== undefined && algorithm !== undefined && algorithm !== 'fixed_window')
    checkRange(node, fields, algorithm, limit, report);
  return counting;
}

function refuseBesideUnlimited(fields: RateLimit, report: Report): void {
  for (const name of ['algorithm', 'burst', 'charge_denied', 'block'] as const) {
    const node = present(fields.get(name));
    if (node === undefined) continue;
    const message = `${name} cannot be combined with unlimited: true; expected one or the other`;
    report.error(node.at, 'algorithm-beside-unlimited', message);
  }
}

function readName(node: Located | undefined, report: Report): AlgorithmName | undefined {
  const name = readOneOf(node, 'algorithm', NAMES, report, (at, message) => {
    report.error(at, 'bad-algorithm', message);
  });
  // Limits of requests in flight are read elsewhere.
  if (name === undefined || name === IN_FLIGHT) return undefined;
  return name === 'token_bucket' ? 'gcra' : name;
}

function readBurst(
  fields: RateLimit,
  algorithm: AlgorithmName | undefined,
  report: Report,
): number | undefined {
  const node = present(fields.get('burst'));
  if (node === undefined) return undefined;
  const isMistaken = algorithm === undefined && present(fields.get('algorithm')) !== undefined;
  if (!kindOf({ algorithm }).hasBurst && !isMistaken && !fields.isMisspelled('algorithm')) {
    const message = `burst needs algorithm: gcra; found ${algorithm ?? 'no algorithm'}`;
    report.error(node.at, 'burst-without-gcra', message);
    return undefined;
  }
  const range = { least: 1, most: kindOf({ algorithm: 'gcra' }).range.maxLimit };
  return readWholeNumber(node, 'burst', range, (message) => {
    report.error(node.at, 'bad-burst', message);
  });
}

/** Tokens of a month are more than these count exactly. */
const LARGER_LIMITS =
  'larger ones, such as a monthly budget of tokens, need fixed_window, with calendar: true for months of the calendar';

/** What cannot be counted by an algorithm. */
function checkRange(
  { at }: Located,
  fields: RateLimit,
  algorithm: AlgorithmName,
  limit: Parameters<typeof readCounting>[1],
  report: Report,
): void {
  const { requestsPerUnit } = limit;
  const { maxLimit } = kindOf({ algorithm }).range;
  const requests = present(fields.get('requests_per_unit'));
  if (requests !== undefined && requestsPerUnit > maxLimit) {
    const message = `requests_per_unit must be at most ${String(maxLimit)} under ${algorithm}; found ${describe(requests)}; ${LARGER_LIMITS}`;
    report.error(requests.at, 'limit-too-large', message);
  }
  if (requests !== undefined && requestsPerUnit === 0) {
    const message = `algorithm has no effect with requests_per_unit: 0, which blocks every request`;
    report.warning(at, 'idle-key', message);
  }
  checkPeriod(at, fields, algorithm, limit, report);
}

function checkPeriod(
  at: Place,
  fields: RateLimit,
  algorithm: AlgorithmName,
  { unit, unitMultiplier = 1, calendar }: Parameters<typeof readCounting>[1],
  report: Report,
): void {
  const { maxPeriodSeconds, hasCalendar } = kindOf({ algorithm }).range;
  if (calendar !== undefined && !hasCalendar) {
    const message = `calendar: true needs algorithm: fixed_window, because its periods differ in length; found ${algorithm}`;
    report.error(at, 'calendar-needs-fixed', message);
  } else if (unit !== undefined && windowSeconds(unit, unitMultiplier) > maxPeriodSeconds) {
    const found = String(windowSeconds(unit, unitMultiplier));
    const message = `a period must be at most ${String(maxPeriodSeconds)} seconds long under ${algorithm}; found ${found}; ${LARGER_LIMITS}`;
    report.error((fields.get('unit_multiplier') ?? { at }).at, 'period-too-long', message);
  }
}
