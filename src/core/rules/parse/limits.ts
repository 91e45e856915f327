import { type LocatedMap, quote } from '../../../fields/located';
import type { Report } from '../../../fields/report';
import {
  DEFAULT_LEASE_MS,
  type LimitDefinition,
  type ReserveDefinition,
  type RuleDefinition,
  type BudgetDefinition,
} from '../definition';
import { readBlock, readLimit, secondsOf, type LimitContext, type LimitDraft } from './limit';
import { refuseExcluded } from './beside';
import { RuleFields } from './rule-fields';
import { MAX_LIMITS } from './table/descriptor';
import { namesOf } from './table/levels';
import { describePlace, type Place } from '../../../fields/problem';
import { kindOf } from '../../kinds/kinds';
import { limitName } from '../describe-limit';
import { IN_FLIGHT } from './table/limit';

const EXCLUDED = namesOf('descriptor', ({ excludes }) => excludes !== undefined);

/** The limits of a descriptor, and the other fields of its budget. Mistakes are reported. */
export function readLimits(
  fields: RuleFields<'descriptor'>,
  context: LimitContext,
): Pick<RuleDefinition, 'limit' | 'budget'> {
  const isList = fields.get('rate_limits') !== undefined;
  const drafts = isList ? readList(fields, context) : readSole(fields, context);
  const limits = drafts.map(({ limit }) => limit);
  const block = readBlock(fields, longestOf(drafts));
  const asked = readReserve(fields);
  const [limit] = limits;
  if (limit === undefined || limit.unlimited) {
    if (limit !== undefined) refuseExcluded(fields, EXCLUDED);
    return { limit };
  }
  const reserve = asked ?? impliedReserve(limits);
  const budget = { limits, reserve, block };
  checkTogether(fields, drafts, budget);
  const isPlain = !isList && reserve === undefined && block === undefined;
  return isPlain && limit.block === undefined ? { limit } : { limit, budget };
}

/** Requests in flight are counted as open reservations. */
function impliedReserve(limits: readonly LimitDefinition[]): ReserveDefinition | undefined {
  const isInFlight = limits.some((one) => one.isInFlight);
  return isInFlight ? { leaseMs: DEFAULT_LEASE_MS, unsettled: 'charge' } : undefined;
}

/** Seconds of the longest period; undefined: none has one. */
function longestOf(drafts: readonly LimitDraft[]): number | undefined {
  const lengths = drafts.flatMap(({ limit }) => secondsOf(limit) ?? []);
  return lengths.length === 0 ? undefined : Math.max(...lengths);
}

function readSole(fields: RuleFields<'descriptor'>, context: LimitContext): readonly LimitDraft[] {
  const map = fields.read('rate_limit');
  return map === undefined ? [] : [readLimit(map, context, fields.report)];
}

function readList(fields: RuleFields<'descriptor'>, context: LimitContext): readonly LimitDraft[] {
  if (fields.has('rate_limit')) {
    const message = 'rate_limit cannot be combined with rate_limits; expected one or the other';
    fields.error('rate_limit', 'limit-beside-limits', message);
    readSole(fields, context);
  }
  checkLength(fields);
  return fields.read('rate_limits').flatMap((map) => readEntry(map, context, fields.report) ?? []);
}

function checkLength(fields: RuleFields<'descriptor'>): void {
  const node = fields.given('rate_limits');
  if (node !== undefined && node.kind !== 'list') return;
  const count = node?.items.length ?? 0;
  if (count >= 1 && count <= MAX_LIMITS) return;
  const found = count === 0 ? 'is empty' : `has ${String(count)} entries`;
  const message = `rate_limits ${found}: expected 1 to ${String(MAX_LIMITS)} limits`;
  fields.error('rate_limits', 'bad-limits', message);
}

/** Undefined: unlimited, which is reported. */
function readEntry(map: LocatedMap, context: LimitContext, report: Report): LimitDraft | undefined {
  const draft = readLimit(map, context, report);
  if (!draft.limit.unlimited) return draft;
  const message =
    'unlimited: true cannot be combined with rate_limits, all of which apply; expected unit and requests_per_unit';
  draft.fields.error('unlimited', 'unlimited-in-limits', message);
  return undefined;
}

/** `reserve` of a rule; with nothing below it, it has its defaults. Undefined when it is absent. */
function readReserve(rule: RuleFields<'descriptor'>): ReserveDefinition | undefined {
  if (!rule.isNamed('reserve')) return undefined;
  const map = rule.read('reserve');
  const fields = map && new RuleFields(map, 'reserve', rule.report);
  const unsettled = fields?.read('unsettled') ?? 'charge';
  const leaseMs = fields?.read('lease') ?? DEFAULT_LEASE_MS;
  const ignores = fields?.read('settle_zero') === 'ignore';
  return { leaseMs, unsettled, ...(ignores && { settleZero: 'ignore' as const }) };
}

/** Reports mistakes between the limits of a rule and its other fields. */
function checkTogether(
  fields: RuleFields<'descriptor'>,
  drafts: readonly LimitDraft[],
  budget: BudgetDefinition,
): void {
  checkDifferent(drafts);
  checkReplaces(drafts);
  if (budget.reserve !== undefined) refuseCharge(fields, drafts);
  const sole = drafts.length === 1 ? drafts[0] : undefined;
  if (budget.block !== undefined && sole?.limit.block !== undefined) {
    const message = 'block is given both here and in the only limit of the rule; expected it once';
    fields.error('block', 'block-beside-block', message);
  }
  warnOfIdle(fields, drafts);
}

function checkDifferent(drafts: readonly LimitDraft[]): void {
  const rates = new Map<string, Place>();
  const names = new Map<string, Place>();
  for (const { limit, fields } of drafts) {
    // An invalid unit was reported already.
    if (limit.unit === undefined && limit.isInFlight !== true) continue;
    const { at } = fields.map;
    const name = limitName(limit);
    const rate = rateOf(limit);
    const same = rates.get(rate);
    const called = names.get(name);
    if (same !== undefined) {
      const message = `two of the rate_limits are ${nameless(limit)}, this one and the one ${describePlace(same)}; expected each algorithm and period once`;
      fields.report.error(at, 'same-limit', message);
    } else if (called !== undefined) {
      const message = `two of the rate_limits are called ${quote(name)}, this one and the one ${describePlace(called)}; expected a name of its own for each`;
      fields.report.error(at, 'same-limit-name', message);
    }
    rates.set(rate, same ?? at);
    names.set(name, called ?? at);
  }
}

/** Equal for limits that would count the same. */
function rateOf(limit: LimitDefinition): string {
  const { calendar, algorithm } = limit;
  if (calendar === undefined) return nameless(limit);
  const { timeZone, weekStart, monthStart } = calendar;
  return [nameless(limit), kindOf({ algorithm }).letter, timeZone, weekStart, monthStart].join(' ');
}

/** `hour_gcra`, even if it has a name. */
function nameless(limit: LimitDefinition): string {
  return limitName({ ...limit, name: '' });
}

/** Reports a limit that another limit of its rule replaces: it would never apply. */
function checkReplaces(drafts: readonly LimitDraft[]): void {
  const names = new Set(drafts.map(({ limit }) => limit.name));
  for (const { limit, fields } of drafts) {
    const own = limit.replaces.find((name) => name !== limit.name && names.has(name));
    if (own === undefined || own === '') continue;
    const message = `replaces names another limit of this rule, ${quote(own)}; expected one of another rule`;
    fields.error('replaces', 'self-replaces', message);
  }
}

function refuseCharge(fields: RuleFields<'descriptor'>, drafts: readonly LimitDraft[]): void {
  const word = fields.get('reserve') === undefined ? `algorithm: ${IN_FLIGHT}` : 'reserve';
  const message = `charge_denied: true cannot be combined with ${word}, under which what is refused is never charged`;
  for (const { limit, fields: own } of drafts)
    if (limit.chargeDenied === true)
      own.error('charge_denied', 'charge-denied-beside-reserve', message);
}

function warnOfIdle(rule: RuleFields<'descriptor'>, drafts: readonly LimitDraft[]): void {
  const zeros = drafts.filter(isZero);
  if (zeros.length === 0) return;
  for (const name of ['reserve', 'block'] as const)
    if (rule.get(name) !== undefined) rule.warning(name, 'idle-key', idleBesideZero(name));
  for (const { fields } of zeros)
    if (fields.get('block') !== undefined)
      fields.warning('block', 'idle-key', idleBesideZero('block'));
}

function idleBesideZero(name: string): string {
  return `${name} has no effect with requests_per_unit: 0, which blocks every request`;
}

function isZero({ limit, fields }: LimitDraft): boolean {
  const { requestsPerUnit, limitsFrom } = limit;
  return (
    requestsPerUnit === 0 &&
    limitsFrom === undefined &&
    fields.get('requests_per_unit') !== undefined
  );
}
