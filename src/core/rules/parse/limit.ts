import { UNIT_SECONDS, unitOfName } from '../../units';
import { hintOfUnit } from './unit-hint';
import type { LimitDefinition } from '../definition';
import { readCounting } from './counting';
import { readFields, type Fields } from './fields';
import { readLimitsFrom } from './limits-from';
import { quote, type Located, type LocatedMap } from './located';
import { readPeriod } from './period';
import { readReplaces, type LimitNames } from './replaces';
import type { Report } from './report';
import { present, readFlag, readMap, readText, readUint32 } from './values';

const UNITS = Object.keys(UNIT_SECONDS).join(', ').toLowerCase();

/** The limit of a descriptor; undefined when it has none. What is wrong in it is reported. */
export function readLimit(
  node: Located | undefined,
  names: LimitNames,
  report: Report,
): LimitDefinition | undefined {
  const map = readMap(node, 'rate_limit', report);
  if (map === undefined) return undefined;
  const fields = readFields(map, 'rate_limit', report);
  const unlimited = readFlag(fields.get('unlimited'), 'unlimited', report);
  const name = readText(fields.get('name'), 'name', report) ?? '';
  names.defined.add(name);
  const requestsPerUnit = readRequestsPerUnit(map, fields, unlimited, report);
  const unit = readUnit(map, fields, unlimited, report);
  const period = { unit, ...readPeriod(fields, unit, unlimited, report) };
  return {
    requestsPerUnit,
    unlimited,
    name,
    limitsFrom: readLimitsFrom(fields.get('limits_from'), unlimited, report),
    replaces: readReplaces(fields.get('replaces'), name, names, report),
    ...period,
    ...readCounting(fields, { ...period, requestsPerUnit, unlimited }, report),
  };
}

/** A limit that was written one level too far to the left would be no limit at all. */
export function refuseEmptyLimit(fields: Fields<'descriptor'>, report: Report): void {
  const node = fields.get('rate_limit');
  if (node === undefined || present(node) !== undefined) return;
  const beside = [...fields.misplaced].filter(([, levels]) => levels.includes('rate_limit'));
  if (beside.length === 0) return;
  const names = beside.map(([name]) => name).join(', ');
  const message = `rate_limit is empty: expected what stands beside it, ${names}, indented below it`;
  report.error(node.at, 'empty-rate-limit', message);
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
    const message = `unit ${quote(name)} stands beside unlimited: true; expected one or the other`;
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
