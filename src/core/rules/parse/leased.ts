import { kindOf } from '../../kinds/kinds';
import type { BudgetDefinition, RuleDefinition } from '../definition';
import type { Located } from '../../../fields/located';
import type { Place } from '../../../fields/problem';
import type { Report } from '../../../fields/report';
import { isSet } from '../../../fields/scalars';
import type { RuleFields } from './rule-fields';
import type { StoreAbilities } from './store-abilities';

/** `leased: true` in a domain that may yet turn out to be charged together. */
export interface LeasedField {
  readonly at: Place;
  readonly report: Report;
}

/** Reports `leased: true` beside fields that rule it out, and notes it elsewhere (docs/stores/leases.md). */
export function checkLeased(
  fields: RuleFields<'descriptor'>,
  rule: Pick<RuleDefinition, 'limit' | 'budget'>,
  { abilities, leases }: { readonly abilities: StoreAbilities | undefined; leases: LeasedField[] },
): void {
  const { report } = fields;
  const other = otherOf(fields, rule, abilities);
  for (const { at } of nodesOf(fields)) {
    if (other === undefined) leases.push({ at, report });
    else refuse(at, other, report);
  }
}

/** Reports the noted ones of a domain that is charged together, once it is read completely. */
export function refuseLeasedTogether(leases: readonly LeasedField[]): void {
  for (const { at, report } of leases) refuse(at, 'charge: together', report);
}

function refuse(at: Place, other: string, report: Report): void {
  const message = `leased: true cannot be combined with ${other}; expected one or the other`;
  report.error(at, 'leased-beside', message);
}

/** The field that rules out leases; undefined: none. */
function otherOf(
  fields: RuleFields<'descriptor'>,
  { limit, budget }: Pick<RuleDefinition, 'limit' | 'budget'>,
  abilities: StoreAbilities | undefined,
): string | undefined {
  if (fields.get('rate_limits') !== undefined) return 'rate_limits';
  if (budget !== undefined) return wordOf(budget);
  if (limit?.unlimited === true) return 'unlimited: true';
  if (limit !== undefined && kindOf(limit).readsFirst) return kindOf(limit).words.feature;
  return abilities?.holdsBack === true ? 'STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT=true' : undefined;
}

function wordOf({ limits, reserve }: BudgetDefinition): string {
  if (limits[0]?.isInFlight === true) return 'algorithm: in_flight';
  return reserve === undefined ? 'block' : 'reserve';
}

/** The places of `leased: true` in the limits of a descriptor. */
function nodesOf(fields: RuleFields<'descriptor'>): readonly Located[] {
  return [fields.get('rate_limit'), fields.get('rate_limits')].flatMap(leasedIn);
}

function leasedIn(node: Located | undefined): readonly Located[] {
  if (node?.kind === 'list') return node.items.flatMap(leasedIn);
  if (node?.kind !== 'map') return [];
  return node.pairs
    .filter(({ key, value }) => isText(key, 'leased') && isSet(value))
    .map(({ value }) => value);
}

function isText(node: Located, text: string): boolean {
  return node.kind === 'scalar' && node.text === text;
}
