import { quote, type LocatedMap } from '../../../fields/located';
import type { Report } from '../../../fields/report';
import { UNIT_SECONDS, unitOfName } from '../../units';
import { windowSeconds } from '../../windows/length';
import type { LimitDefinition } from '../definition';
import { readBlock } from './block';
import { readCounting } from './counting';
import { isInFlight, readInFlight } from './in-flight';
import { readLimitsFrom } from './limits-from';
import { readPeriod } from './period';
import { readReplaces, type LimitNames } from './replaces';
import { belongsIn, ruleFields, type RuleFields } from './rule-fields';
import { hintOfUnit } from './unit-hint';

const UNITS = Object.keys(UNIT_SECONDS).join(', ').toLowerCase();

const UINT32 = { least: 0, most: 4_294_967_295 };

/** One limit as it is read, with its fields for what is checked beside others. */
export interface LimitDraft {
  readonly limit: LimitDefinition;
  readonly fields: RuleFields<'rate_limit'>;
}

/** A limit, the only one of a rule or one of several. What is wrong in it is reported. */
export function readLimit(map: LocatedMap, names: LimitNames, report: Report): LimitDraft {
  const fields = ruleFields(map, 'rate_limit', report);
  const unlimited = fields.flag('unlimited');
  const name = fields.text('name') ?? '';
  names.defined.add(name);
  const { requestsPerUnit, ...rate } =
    isInFlight(fields) && !unlimited ? readInFlight(fields) : readRate(fields, unlimited);
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

/** Seconds of a limit's period, of a calendar a usual one; undefined: it has none. */
export function secondsOf({ unit, unitMultiplier = 1 }: LimitDefinition): number | undefined {
  return unit && windowSeconds(unit, unitMultiplier);
}

/** So many hits per period, and how they are counted. */
function readRate(fields: RuleFields<'rate_limit'>, unlimited: boolean) {
  const requestsPerUnit = readRequestsPerUnit(fields, unlimited);
  const unit = readUnit(fields, unlimited);
  const period = { unit, ...readPeriod(fields, unit, unlimited) };
  return {
    requestsPerUnit,
    ...period,
    ...readCounting(fields, { ...period, requestsPerUnit, unlimited }),
  };
}

/** Maps of a descriptor whose fields may stand one level too far to the left. */
const HOLDERS = [
  ['rate_limit', 'empty-rate-limit'],
  ['reserve', 'empty-reserve'],
  ['block', 'empty-block'],
] as const;

/** A limit that was written one level too far to the left would be no limit at all, and a lease there none. */
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
  fields.error('unit', 'bad-unit', `${found} one of ${UNITS}${hint}`);
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
