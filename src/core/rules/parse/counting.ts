import {
  MAX_PACED_LIMIT,
  MAX_PACED_PERIOD_SECONDS,
  type AlgorithmName,
} from '../../algorithms/algorithm';
import { windowSeconds } from '../../windows/length';
import type { LimitDefinition } from '../definition';
import type { Fields } from './fields';
import { describe, type Located } from './located';
import type { Report } from './report';
import { present, readFlag, readOneOf, readWholeNumber } from './values';

type RateLimit = Fields<'rate_limit'>;

/** How the limit is counted: `algorithm`, `burst`, `charge_denied`. */
type Counting = Pick<LimitDefinition, 'algorithm' | 'burst' | 'chargeDenied'>;

/** `token_bucket` is what Envoy's users search for. */
const NAMES = ['fixed_window', 'gcra', 'sliding_window', 'token_bucket'] as const;

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
    checkRolling(node, fields, algorithm, limit, report);
  return counting;
}

function refuseBesideUnlimited(fields: RateLimit, report: Report): void {
  for (const name of ['algorithm', 'burst', 'charge_denied'] as const) {
    const node = present(fields.get(name));
    if (node === undefined) continue;
    const message = `${name} stands beside unlimited: true; expected one or the other`;
    report.error(node.at, 'algorithm-beside-unlimited', message);
  }
}

function readName(node: Located | undefined, report: Report): AlgorithmName | undefined {
  const name = readOneOf(node, 'algorithm', NAMES, report, (at, message) => {
    report.error(at, 'bad-algorithm', message);
  });
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
  if (algorithm !== 'gcra' && !isMistaken && !fields.isMisspelled('algorithm')) {
    const message = `burst needs algorithm: gcra; found ${algorithm ?? 'no algorithm'}`;
    report.error(node.at, 'burst-without-gcra', message);
    return undefined;
  }
  const range = { least: 1, most: MAX_PACED_LIMIT };
  return readWholeNumber(node, 'burst', range, (message) => {
    report.error(node.at, 'bad-burst', message);
  });
}

/** What gcra and sliding_window, which count in ticks, cannot do. */
function checkRolling(
  { at }: Located,
  fields: RateLimit,
  algorithm: AlgorithmName,
  limit: Parameters<typeof readCounting>[1],
  report: Report,
): void {
  const { unit, unitMultiplier = 1, calendar, requestsPerUnit } = limit;
  const requests = present(fields.get('requests_per_unit'));
  if (requests !== undefined && requestsPerUnit > MAX_PACED_LIMIT) {
    const message = `requests_per_unit must be at most ${String(MAX_PACED_LIMIT)} under ${algorithm}; found ${describe(requests)}`;
    report.error(requests.at, 'limit-too-large', message);
  }
  if (requests !== undefined && requestsPerUnit === 0) {
    const message = `algorithm does nothing beside requests_per_unit: 0, which blocks every request`;
    report.warning(at, 'idle-key', message);
  }
  if (calendar !== undefined) {
    const message = `calendar: true needs algorithm: fixed_window, because its periods differ in length; found ${algorithm}`;
    report.error(at, 'calendar-needs-fixed', message);
  } else if (unit !== undefined && windowSeconds(unit, unitMultiplier) > MAX_PACED_PERIOD_SECONDS) {
    const found = String(windowSeconds(unit, unitMultiplier));
    const message = `a period must be at most ${String(MAX_PACED_PERIOD_SECONDS)} seconds long under ${algorithm}; found ${found}`;
    report.error((fields.get('unit_multiplier') ?? { at }).at, 'period-too-long', message);
  }
}
