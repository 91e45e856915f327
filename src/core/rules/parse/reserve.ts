import { DEFAULT_LEASE_MS, type ReserveDefinition } from '../definition';
import { readDuration } from './duration';
import { ruleFields, type RuleFields } from './rule-fields';

const LEASE = { least: '1s', most: '24h' } as const;

/** `reserve` of a rule, all of it said: written without anything below it, it has its defaults. Undefined when it is not written. */
export function readReserve(rule: RuleFields<'descriptor'>): ReserveDefinition | undefined {
  if (rule.get('reserve') === undefined) return undefined;
  const map = rule.mapOf('reserve');
  if (map === undefined) return { leaseMs: DEFAULT_LEASE_MS, unsettled: 'charge' };
  const fields = ruleFields(map, 'reserve', rule.report);
  const unsettled = fields.oneOf('unsettled', ['charge', 'release'], 'bad-unsettled');
  return {
    leaseMs: readDuration(fields, 'lease', LEASE) ?? DEFAULT_LEASE_MS,
    unsettled: unsettled ?? 'charge',
  };
}
