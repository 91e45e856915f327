import { type LocatedMap, describe, quote } from '../../../fields/located';
import type { Report } from '../../../fields/report';
import { windowSeconds } from '../../windows/length';
import type { HasZone } from '../../windows/zone-data';
import {
  DEFAULT_REFRESH_MS,
  type LimitDefinition,
  type LimitsFromDefinition,
  type BlockDefinition,
} from '../definition';
import { refuseBesideInFlight, refuseBesideUnlimited } from './beside';
import { readPeriod } from './period';
import { readReplaces, type LimitNames } from './replaces';
import { RuleFields } from './rule-fields';
import { IN_FLIGHT, OPEN_RESERVATIONS, algorithmsOf } from './table/limit';
import { kindOf, type AlgorithmName } from '../../kinds/kinds';
import type { NameOf } from './table/levels';

type RateLimit = RuleFields<'rate_limit'>;

/** One limit with its fields, for checks that involve others. */
export interface LimitDraft {
  readonly limit: LimitDefinition;
  readonly fields: RateLimit;
}

/** What limits of a file are checked against. */
export interface LimitContext {
  readonly names: LimitNames;
  /** Undefined: the runtime alone knows time zones. */
  readonly hasZone: HasZone | undefined;
}

/** A limit, the only one of a rule or one of several. Mistakes are reported. */
export function readLimit(
  map: LocatedMap,
  { names, hasZone }: LimitContext,
  report: Report,
): LimitDraft {
  const fields = new RuleFields(map, 'rate_limit', report);
  const unlimited = fields.read('unlimited');
  const name = fields.read('name') ?? '';
  names.defined.add(name);
  const { requestsPerUnit, ...rate } = unlimited
    ? readUnlimited(fields)
    : isInFlight(fields)
      ? readInFlight(fields)
      : readRate(fields, hasZone);
  const limit: LimitDefinition = {
    requestsPerUnit,
    unlimited,
    name,
    limitsFrom: readLimitsFrom(fields, unlimited),
    replaces: readReplaces(fields, name, names),
    ...rate,
  };
  const block = unlimited ? undefined : readBlock(fields, secondsOf(limit));
  const leased = fields.has('leased') && { leased: fields.read('leased') };
  return { limit: { ...limit, ...(block && { block }), ...leased }, fields };
}

/** Seconds of a limit's period, for a calendar the usual ones; undefined: it has none. */
export function secondsOf({ unit, unitMultiplier = 1 }: LimitDefinition): number | undefined {
  return unit && windowSeconds(unit, unitMultiplier);
}

/** The part of a limit that says how much. */
type Rate = Pick<LimitDefinition, 'requestsPerUnit' | 'unit'> & Partial<LimitDefinition>;

/** No limit, and nothing beside it that says one. Mistakes are reported. */
function readUnlimited(fields: RateLimit): Rate {
  const requestsPerUnit = fields.read('requests_per_unit') ?? 0;
  refuseBesideUnlimited(fields);
  return { requestsPerUnit, unit: undefined };
}

/** Hits per period, and the algorithm. */
function readRate(fields: RateLimit, hasZone: HasZone | undefined): Rate {
  const expected = 'a whole number (0 blocks every request), or unlimited: true';
  if (fields.has('unit')) expectRequests(fields, expected);
  const requestsPerUnit = fields.read('requests_per_unit') ?? 0;
  const rate = { requestsPerUnit, ...readPeriod(fields, hasZone) };
  return { ...rate, ...readCounting(fields, rate) };
}

function isInFlight(fields: RateLimit): boolean {
  const node = fields.get('algorithm');
  return node?.kind === 'scalar' && node.text === IN_FLIGHT;
}

/** A limit of requests in flight: a number without a period. Mistakes are reported. */
function readInFlight(fields: RateLimit): Rate {
  refuseBesideInFlight(fields);
  const most = `a whole number from 1 to ${String(OPEN_RESERVATIONS.most)}`;
  expectRequests(fields, `how many may be in flight, ${most}`);
  const called = 'requests_per_unit of in_flight';
  const number = fields.whole('requests_per_unit', OPEN_RESERVATIONS, 'bad-in-flight', called);
  return { unit: undefined, requestsPerUnit: number ?? 1, isInFlight: true };
}

function expectRequests(fields: RateLimit, expected: string): void {
  const name = 'requests_per_unit';
  if (fields.has(name) || fields.isMisspelled(name)) return;
  const message = `requests_per_unit is missing: expected ${expected}`;
  fields.report.error(fields.map.at, 'missing-requests-per-unit', message);
}

/** The source of values' limits; undefined when there is none. Mistakes are reported. */
function readLimitsFrom(limit: RateLimit, unlimited: boolean): LimitsFromDefinition | undefined {
  const map = limit.read('limits_from');
  if (map === undefined) return undefined;
  if (unlimited) {
    const message =
      'limits_from cannot be combined with unlimited: true; expected unit and requests_per_unit, which apply to values without a field';
    limit.error('limits_from', 'bad-limits-from', message);
  }
  const fields = new RuleFields(map, 'limits_from', limit.report);
  return {
    key: fields.read('key') ?? '',
    refreshMs: fields.read('refresh') ?? DEFAULT_REFRESH_MS,
  };
}

/** How the limit is counted: `algorithm`, `burst`, `charge_denied`. */
type Counting = Pick<LimitDefinition, 'algorithm' | 'burst' | 'chargeDenied'>;

/** Mistakes, alone or in combination with the rest of the limit, are reported. */
function readCounting(fields: RateLimit, rate: Rate): Counting {
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

/**
 * `block` of a rule or of one limit, with its defaults filled in; undefined when there is none. Mistakes are reported.
 * `periodSeconds`: the (longest) period of what it blocks; undefined: it has none.
 */
export function readBlock(
  holder: RuleFields<'rate_limit'> | RuleFields<'descriptor'>,
  periodSeconds: number | undefined,
): BlockDefinition | undefined {
  const map = holder.mapOf('block');
  if (map === undefined) return undefined;
  const fields = new RuleFields(map, 'block', holder.report);
  const forMs = fields.read('for');
  const after = fields.has('after') ? fields.read('after') : 1;
  const withinMs = fields.read('within');
  if (after === 1) warnOfIdleWithin(fields);
  const lastsMs = forMs ?? 0;
  return {
    after: after ?? 1,
    withinMs: withinMs ?? (periodSeconds === undefined ? lastsMs : periodSeconds * 1_000),
    forMs: lastsMs,
    upToMs: readUpTo(fields, forMs) ?? lastsMs,
  };
}

/** One refusal is enough: `within` has no effect. */
function warnOfIdleWithin(fields: RuleFields<'block'>): void {
  if (!fields.has('within') || fields.isMisspelled('after')) return;
  const message = 'within has no effect with after: 1, under which the first refusal blocks';
  fields.warning('within', 'idle-key', message);
}

function readUpTo(fields: RuleFields<'block'>, forMs: number | undefined): number | undefined {
  const upToMs = fields.read('up_to');
  if (upToMs === undefined || forMs === undefined || upToMs >= forMs) return upToMs;
  const [upTo, lasts] = [fields.text('up_to') ?? '', fields.text('for') ?? ''];
  const message = `up_to ${quote(upTo)} is shorter than for ${quote(lasts)}; expected at least as long`;
  fields.error('up_to', 'up-to-below-for', message);
  return undefined;
}
