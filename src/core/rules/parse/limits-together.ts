import { quote } from '../../../fields/located';
import { describePlace, type Place } from '../../../fields/problem';
import { kindOf } from '../../kinds/kinds';
import { limitName } from '../describe-limit';
import type { BudgetDefinition, LimitDefinition } from '../definition';
import type { LimitDraft } from './limit';
import type { RuleFields } from './rule-fields';
import { IN_FLIGHT } from './table/limit';

/** Reports mistakes between the limits of a rule and its other fields. */
export function checkTogether(
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
