import { UNIT_SECONDS, unitOfName } from '../../units';
import { windowSeconds } from '../../windows/length';
import { hintOfUnit } from './unit-hint';
import type { LimitDefinition } from '../definition';
import { readBlock } from './block';
import { readCounting } from './counting';
import { readFields, type Fields } from './fields';
import { isInFlight, readInFlight } from './in-flight';
import { readLimitsFrom } from './limits-from';
import { quote, type LocatedMap } from './located';
import { readPeriod } from './period';
import type { Place } from './problem';
import { readReplaces, type LimitNames } from './replaces';
import type { Report } from './report';
import { present, readFlag, readText, readUint32 } from './values';

const UNITS = Object.keys(UNIT_SECONDS).join(', ').toLowerCase();

/** One limit as it is read, with its fields for what is checked beside others. */
export interface LimitDraft {
  readonly limit: LimitDefinition;
  readonly fields: Fields<'rate_limit'>;
  readonly at: Place;
}

/** A limit, the only one of a rule or one of several. What is wrong in it is reported. */
export function readLimit(map: LocatedMap, names: LimitNames, report: Report): LimitDraft {
  const fields = readFields(map, 'rate_limit', report);
  const unlimited = readFlag(fields.get('unlimited'), 'unlimited', report);
  const name = readText(fields.get('name'), 'name', report) ?? '';
  names.defined.add(name);
  const { requestsPerUnit, ...rate } =
    isInFlight(fields) && !unlimited
      ? readInFlight(fields, map.at, report)
      : readRate(map, fields, unlimited, report);
  const limit: LimitDefinition = {
    requestsPerUnit,
    unlimited,
    name,
    limitsFrom: readLimitsFrom(fields.get('limits_from'), unlimited, report),
    replaces: readReplaces(fields.get('replaces'), name, names, report),
    ...rate,
  };
  const block = unlimited ? undefined : readBlock(fields.get('block'), secondsOf(limit), report);
  const node = present(fields.get('leased'));
  const leased = node && readFlag(node, 'leased', report);
  return {
    limit: { ...limit, ...(block && { block }), ...(leased !== undefined && { leased }) },
    fields,
    at: map.at,
  };
}

/** Seconds of a limit's period, of a calendar a usual one; undefined: it has none. */
export function secondsOf({ unit, unitMultiplier = 1 }: LimitDefinition): number | undefined {
  return unit && windowSeconds(unit, unitMultiplier);
}

/** So many hits per period, and how they are counted. */
function readRate(
  map: LocatedMap,
  fields: Fields<'rate_limit'>,
  unlimited: boolean,
  report: Report,
) {
  const requestsPerUnit = readRequestsPerUnit(map, fields, unlimited, report);
  const unit = readUnit(map, fields, unlimited, report);
  const period = { unit, ...readPeriod(fields, unit, unlimited, report) };
  const counting = readCounting(fields, { ...period, requestsPerUnit, unlimited }, report);
  return { requestsPerUnit, ...period, ...counting };
}

/** Maps of a descriptor whose fields may stand one level too far to the left. */
const HOLDERS = [
  ['rate_limit', 'empty-rate-limit'],
  ['reserve', 'empty-reserve'],
  ['block', 'empty-block'],
] as const;

/** A limit that was written one level too far to the left would be no limit at all, and a lease there none. */
export function refuseEmpty(fields: Fields<'descriptor'>, report: Report): void {
  for (const [holder, mistake] of HOLDERS) {
    const node = fields.get(holder);
    if (node === undefined || present(node) !== undefined) continue;
    const beside = [...fields.misplaced].filter(([, levels]) => levels.includes(holder));
    if (beside.length === 0) continue;
    const names = beside.map(([name]) => name).join(', ');
    const message = `${holder} is empty: expected ${names} indented below it, found beside it`;
    report.error(node.at, mistake, message);
  }
}

function readUnit(
  limit: LocatedMap,
  fields: Fields<'rate_limit'>,
  unlimited: boolean,
  report: Report,
) {
  const node = fields.get('unit');
  const name = readText(node, 'unit', report);
  if (name === undefined) return undefined;
  const { at } = node ?? limit;
  if (unlimited) {
    if (name === '') return undefined;
    const message = `unit ${quote(name)} cannot be combined with unlimited: true; expected one or the other`;
    report.error(at, 'unit-beside-unlimited', message);
    return undefined;
  }
  const unit = unitOfName(name);
  if (unit !== undefined || fields.isMisspelled('unit')) return unit;
  const found = name === '' ? 'unit is missing: expected' : `unit ${quote(name)} is not`;
  const hint = name === '' ? ', or unlimited: true' : hintOfUnit(name);
  report.error(at, 'bad-unit', `${found} one of ${UNITS}${hint}`);
  return undefined;
}

function readRequestsPerUnit(
  limit: LocatedMap,
  fields: Fields<'rate_limit'>,
  unlimited: boolean,
  report: Report,
): number {
  const node = present(fields.get('requests_per_unit'));
  if (node !== undefined) return readUint32(node, 'requests_per_unit', report) ?? 0;
  const isExpected = !unlimited && present(fields.get('unit')) !== undefined;
  if (isExpected && !fields.isMisspelled('requests_per_unit')) {
    const message =
      'requests_per_unit is missing: expected a whole number (0 blocks every request), or unlimited: true';
    report.error(limit.at, 'missing-requests-per-unit', message);
  }
  return 0;
}
