import type { RuleDefinition } from '../definition';
import { quote } from '../../../fields/located';
import type { RuleFields } from './rule-fields';
import { namesOf } from './table/levels';

/** A flag that is off is not reported: generated files contain all of them. */
const NEED_A_LIMIT = namesOf('descriptor', ({ needs }) => needs === 'rate_limit');

const LIMITS = ['rate_limit', 'rate_limits'] as const;

/** Warns of fields without effect in a descriptor without a limit, or of the descriptor itself. */
export function warnOfIdle(fields: RuleFields<'descriptor'>): void {
  if (LIMITS.some((name) => fields.isMisspelled(name) || fields.has(name))) return;
  const idle = NEED_A_LIMIT.filter((name) => fields.isSet(name) || fields.isNamed(name));
  for (const name of idle)
    fields.warning(name, 'idle-key', `${name} has no effect in a descriptor without rate_limit`);
  const key = fields.get('key');
  if (idle.length === 0 && key?.kind === 'scalar' && isWithoutEffect(fields)) {
    const message = `no limit here or below: requests that match the key ${quote(key.text)} are not limited`;
    fields.report.warning(fields.map.at, 'no-limit', message);
  }
}

/** An entry for any value matches what no other entry does. One with a value may exempt it; `hash_value` is for all entries of a key. */
const GIVE_EFFECT = ['value', 'value_hash', 'hash_value', 'descriptors'] as const;

function isWithoutEffect(fields: RuleFields<'descriptor'>): boolean {
  if (fields.misplaced.size > 0) return false;
  return GIVE_EFFECT.every((name) => !fields.isSet(name) && !fields.isMisspelled(name));
}

/** Regular expressions that are improbable as literal values: an anchor, `.*` after a slash, `[a-z]`, an escaped dot or class. */
const REGULAR_EXPRESSION = /^\^|\$$|\/\.[*+]|\.\*\$?$|\[\^?\w-\w|\\(?:\.|[dws][+*])/;

/** Warns of a value that was meant as a pattern of another language. */
export function warnOfRegularExpression(
  { value, secret }: Pick<RuleDefinition, 'value' | 'secret'>,
  fields: RuleFields<'descriptor'>,
): void {
  if (value === undefined || !REGULAR_EXPRESSION.test(value)) return;
  const name = secret === undefined ? `value ${quote(value)}` : 'this value';
  const wildcard = value.replace(/^\^|\$$/g, '').replaceAll(/\.[*+]/g, '*');
  const isPlain = secret === undefined && /^[^\\[\](){}|+?^$]+$/.test(wildcard);
  const hint = isPlain ? `; did you mean ${quote(wildcard)}?` : '';
  const message = `${name} is plain text, not a regular expression: only * matches other characters${hint}`;
  fields.warning('value', 'regular-expression', message);
}
