import { kindOf } from '../../kinds/kinds';
import { limitName } from '../describe-limit';
import type { BudgetDefinition, LimitDefinition } from '../definition';
import type { Fields } from './fields';
import { IN_FLIGHT } from './in-flight';
import type { LimitDraft } from './limit';
import { quote } from './located';
import { describePlace, type Place } from './problem';
import type { Report } from './report';
import { present } from './values';

/** What is wrong between the limits of a rule and what it says beyond them. */
export function checkTogether(
  fields: Fields<'descriptor'>,
  drafts: readonly LimitDraft[],
  budget: BudgetDefinition,
  report: Report,
): void {
  checkDifferent(drafts, report);
  checkReplaces(drafts, report);
  if (budget.reserve !== undefined) refuseCharge(fields, drafts, report);
  const sole = drafts.length === 1 ? drafts[0] : undefined;
  const node = fields.get('block');
  if (node !== undefined && budget.block !== undefined && sole?.limit.block !== undefined) {
    const message = 'block is given both here and in the only limit of the rule; expected it once';
    report.error(node.at, 'block-beside-block', message);
  }
  warnOfIdle(fields, drafts, report);
}

/** Words beside a limit that does not limit. */
export function refuseBesideUnlimited(fields: Fields<'descriptor'>, report: Report): void {
  for (const name of ['reserve', 'block'] as const) {
    const field = fields.get(name);
    if (field === undefined || (name === 'block' && present(field) === undefined)) continue;
    const message = `${name} cannot be combined with unlimited: true; expected one or the other`;
    report.error(field.at, 'algorithm-beside-unlimited', message);
  }
}

function checkDifferent(drafts: readonly LimitDraft[], report: Report): void {
  const rates = new Map<string, Place>();
  const names = new Map<string, Place>();
  for (const { limit, at } of drafts) {
    // Of a mistaken unit nothing is known.
    if (limit.unit === undefined && limit.isInFlight !== true) continue;
    const name = limitName(limit);
    const rate = rateOf(limit);
    const same = rates.get(rate);
    const called = names.get(name);
    if (same !== undefined) {
      const message = `two of the rate_limits are ${nameless(limit)}, this one and the one ${describePlace(same)}; expected each algorithm and period once`;
      report.error(at, 'same-limit', message);
    } else if (called !== undefined) {
      const message = `two of the rate_limits are called ${quote(name)}, this one and the one ${describePlace(called)}; expected a name of its own for each`;
      report.error(at, 'same-limit-name', message);
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

/** `hour_gcra`, whatever it is named. */
function nameless(limit: LimitDefinition): string {
  return limitName({ ...limit, name: '' });
}

/** A limit that another one of its rule takes out would never hold. */
function checkReplaces(drafts: readonly LimitDraft[], report: Report): void {
  const names = new Set(drafts.map(({ limit }) => limit.name));
  for (const { limit, fields, at } of drafts) {
    const own = limit.replaces.find((name) => name !== limit.name && names.has(name));
    if (own === undefined || own === '') continue;
    const message = `replaces names another limit of this rule, ${quote(own)}; expected one of another rule`;
    report.error((fields.get('replaces') ?? { at }).at, 'self-replaces', message);
  }
}

function refuseCharge(
  fields: Fields<'descriptor'>,
  drafts: readonly LimitDraft[],
  report: Report,
): void {
  const word = fields.get('reserve') === undefined ? `algorithm: ${IN_FLIGHT}` : 'reserve';
  for (const { limit, fields: own } of drafts) {
    const node = own.get('charge_denied');
    if (limit.chargeDenied !== true || node === undefined) continue;
    const message = `charge_denied: true cannot be combined with ${word}, under which what is refused is never charged`;
    report.error(node.at, 'charge-denied-beside-reserve', message);
  }
}

function warnOfIdle(
  fields: Fields<'descriptor'>,
  drafts: readonly LimitDraft[],
  report: Report,
): void {
  const zeros = drafts.filter(isZero);
  const nodes = zeros.map(({ fields: own }) => ['block', own.get('block')] as const);
  const ofRule = (['reserve', 'block'] as const).map((name) => [name, fields.get(name)] as const);
  for (const [name, node] of zeros.length === 0 ? [] : [...ofRule, ...nodes]) {
    if (node === undefined) continue;
    const message = `${name} has no effect with requests_per_unit: 0, which blocks every request`;
    report.warning(node.at, 'idle-key', message);
  }
}

function isZero({ limit, fields }: LimitDraft): boolean {
  const { requestsPerUnit, limitsFrom } = limit;
  return (
    requestsPerUnit === 0 &&
    limitsFrom === undefined &&
    fields.get('requests_per_unit') !== undefined
  );
}
