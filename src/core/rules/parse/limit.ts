import type { LocatedMap } from '../../../fields/located';
import type { Report } from '../../../fields/report';
import { windowSeconds } from '../../windows/length';
import type { HasZone } from '../../windows/zone-data';
import { DEFAULT_REFRESH_MS, type LimitDefinition, type LimitsFromDefinition } from '../definition';
import { refuseBesideInFlight, refuseBesideUnlimited } from './beside';
import { readBlock } from './block';
import { readCounting } from './counting';
import { readPeriod } from './period';
import { readReplaces, type LimitNames } from './replaces';
import { RuleFields } from './rule-fields';
import { IN_FLIGHT, OPEN_RESERVATIONS } from './table/limit';

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
