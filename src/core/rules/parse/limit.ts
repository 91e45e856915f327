import { quote, type LocatedMap } from '../../../fields/located';
import type { Report } from '../../../fields/report';
import { UNIT_SECONDS, unitOfName, type Unit } from '../../units';
import { windowSeconds } from '../../windows/length';
import type { LimitDefinition, LimitsFromDefinition } from '../definition';
import { readBlock } from './block';
import { readCounting, isInFlight, readInFlight } from './counting';
import { readPeriod } from './period';
import { readReplaces, type LimitNames } from './replaces';
import type { HasZone } from '../../windows/zone-data';
import { belongsIn, ruleFields, type RuleFields } from './rule-fields';
import { nearestName } from '../../../fields/names';

export const UNITS = Object.keys(UNIT_SECONDS).map((unit) => unit.toLowerCase());

/** `requests_per_unit`. */
export const UINT32 = { least: 0, most: 4_294_967_295 };

/** One limit with its fields, for checks that involve others. */
export interface LimitDraft {
  readonly limit: LimitDefinition;
  readonly fields: RuleFields<'rate_limit'>;
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
  const fields = ruleFields(map, 'rate_limit', report);
  const unlimited = fields.flag('unlimited');
  const name = fields.text('name') ?? '';
  names.defined.add(name);
  const { requestsPerUnit, ...rate } =
    isInFlight(fields) && !unlimited ? readInFlight(fields) : readRate(fields, unlimited, hasZone);
  const limit: LimitDefinition = {
    requestsPerUnit,
    unlimited,
    name,
    limitsFrom: readLimitsFrom(fields, unlimited),
    replaces: readReplaces(fields, name, names),
    ...rate,
  };
  const block = unlimited ? undefined : readBlock(fields, secondsOf(limit));
  const leased = fields.has('leased') && { leased: fields.flag('leased') };
  return { limit: { ...limit, ...(block && { block }), ...leased }, fields };
}

/** Seconds of a limit's period, for a calendar the usual ones; undefined: it has none. */
export function secondsOf({ unit, unitMultiplier = 1 }: LimitDefinition): number | undefined {
  return unit && windowSeconds(unit, unitMultiplier);
}

/** Hits per period, and the algorithm. */
function readRate(
  fields: RuleFields<'rate_limit'>,
  unlimited: boolean,
  hasZone: HasZone | undefined,
) {
  const requestsPerUnit = readRequestsPerUnit(fields, unlimited);
  const unit = readUnit(fields, unlimited);
  const period = { unit, ...readPeriod(fields, { unit, unlimited, hasZone }) };
  return {
    requestsPerUnit,
    ...period,
    ...readCounting(fields, { ...period, requestsPerUnit, unlimited }),
  };
}

/** Maps of a descriptor whose fields may be indented one level too little. */
const HOLDERS = [
  ['rate_limit', 'empty-rate-limit'],
  ['reserve', 'empty-reserve'],
  ['block', 'empty-block'],
] as const;

/** Reports a limit or lease without effect because it is indented one level too little. */
export function refuseEmpty(fields: RuleFields<'descriptor'>): void {
  for (const [holder, mistake] of HOLDERS) {
    if (fields.get(holder) === undefined || fields.has(holder)) continue;
    const beside = [...fields.misplaced].filter((name) => belongsIn(holder, name));
    if (beside.length === 0) continue;
    const message = `${holder} is empty: expected ${beside.join(', ')} indented below it, found beside it`;
    fields.error(holder, mistake, message);
  }
}

function readUnit(fields: RuleFields<'rate_limit'>, unlimited: boolean) {
  const name = fields.text('unit');
  if (name === undefined) return undefined;
  if (unlimited) {
    const message = `unit ${quote(name)} cannot be combined with unlimited: true; expected one or the other`;
    if (name !== '') fields.error('unit', 'unit-beside-unlimited', message);
    return undefined;
  }
  const unit = unitOfName(name);
  if (unit !== undefined || fields.isMisspelled('unit')) return unit;
  const found = name === '' ? 'unit is missing: expected' : `unit ${quote(name)} is not`;
  const hint = name === '' ? ', or unlimited: true' : hintOfUnit(name);
  fields.error('unit', 'bad-unit', `${found} one of ${UNITS.join(', ')}${hint}`);
  return undefined;
}

function readRequestsPerUnit(fields: RuleFields<'rate_limit'>, unlimited: boolean): number {
  const name = 'requests_per_unit';
  if (fields.has(name)) return fields.whole(name, UINT32, 'wrong-type') ?? 0;
  const isExpected = !unlimited && fields.has('unit');
  if (isExpected && !fields.isMisspelled(name)) {
    const message =
      'requests_per_unit is missing: expected a whole number (0 blocks every request), or unlimited: true';
    fields.report.error(fields.map.at, 'missing-requests-per-unit', message);
  }
  return 0;
}

export const REFRESH = /^(\d{1,6})([smh])$/;
const DEFAULT_REFRESH_MS = 10_000;
const MS_OF = { s: 1_000, m: 60_000, h: 3_600_000 } as const;
const MAX_REFRESH_MS = 24 * MS_OF.h;

/** The source of values' limits; undefined when there is none. Mistakes are reported. */
function readLimitsFrom(
  limit: RuleFields<'rate_limit'>,
  unlimited: boolean,
): LimitsFromDefinition | undefined {
  const map = limit.mapOf('limits_from');
  if (map === undefined) return undefined;
  if (unlimited) {
    const message =
      'limits_from cannot be combined with unlimited: true; expected unit and requests_per_unit, which apply to values without a field';
    limit.error('limits_from', 'bad-limits-from', message);
  }
  const fields = ruleFields(map, 'limits_from', limit.report);
  const key = fields.text('key');
  if (key === '' && !fields.isMisspelled('key')) {
    const message = 'limits_from has no key: expected the key of a hash in the counter store';
    fields.error('key', 'bad-limits-from', message);
  }
  return { key: key ?? '', refreshMs: readRefresh(fields) };
}

function readRefresh(fields: RuleFields<'limits_from'>): number {
  const text = fields.text('refresh');
  if (text === undefined || text === '') return DEFAULT_REFRESH_MS;
  const [, digits = '', unit = 's'] = REFRESH.exec(text) ?? [];
  const ms = Number(digits) * MS_OF[unit as keyof typeof MS_OF];
  if (ms > 0 && ms <= MAX_REFRESH_MS) return ms;
  const message = `refresh ${quote(text)} is not a time from 1s to 24h, such as 10s, 5m or 1h`;
  fields.error('refresh', 'bad-limits-from', message);
  return DEFAULT_REFRESH_MS;
}

/** Usual abbreviations of units; `m` is a minute, as in Go. */
const ABBREVIATIONS: Readonly<Record<string, Unit>> = {
  s: 'SECOND',
  sec: 'SECOND',
  secs: 'SECOND',
  m: 'MINUTE',
  min: 'MINUTE',
  mins: 'MINUTE',
  h: 'HOUR',
  hr: 'HOUR',
  hrs: 'HOUR',
  d: 'DAY',
  w: 'WEEK',
  wk: 'WEEK',
  mo: 'MONTH',
  y: 'YEAR',
  yr: 'YEAR',
};

/** The probable meaning of a text that is not a unit: `5m` is a unit and a multiplier; empty when nothing is near. */
function hintOfUnit(text: string): string {
  const [, count = '', word = ''] = /^(\d{0,9}) ?([a-z]+)$/.exec(text.toLowerCase()) ?? [];
  const unit = unitOf(word);
  if (unit === undefined) return '';
  const multiplier = Number(count);
  const beside = multiplier > 1 ? ` with unit_multiplier: ${String(multiplier)}` : '';
  return `; did you mean ${quote(unit)}${beside}?`;
}

function unitOf(word: string): string | undefined {
  if (Object.hasOwn(ABBREVIATIONS, word)) return ABBREVIATIONS[word]?.toLowerCase();
  return nearestName(word, UNITS);
}
