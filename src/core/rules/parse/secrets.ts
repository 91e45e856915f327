import type { RuleDefinition } from '../definition';
import { schemeOf, type SecretKind } from '../secrets';
import { describe, MAX_DEPTH, quote, type Located, type LocatedMap } from '../../../fields/located';
import { present, resolveScalar } from '../../../fields/scalars';
import type { RuleFields } from './rule-fields';

/** The keys whose values are secret, in all files of a rule set. */
export type SecretKinds = ReadonlyMap<string, SecretKind>;

/** The keys under which secret values become tokens. */
export interface SecretOptions {
  /** Ids of the keys; empty: a rule that needs a key is a mistake. Undefined: unknown, nothing is checked. */
  readonly secretKeyIds?: readonly number[] | undefined;
}

/** What reading a descriptor needs for secret values. */
export interface SecretRules extends SecretOptions {
  readonly keys: SecretKinds;
}

/** Finds `hash_value` and `value_hash` before anything is read: a key that is secret in one place is secret everywhere. */
export function findSecretKeys(roots: readonly (Located | undefined)[]): SecretKinds {
  const keys = new Map<string, SecretKind>();
  for (const root of roots) if (root?.kind === 'map') findBelow(root, 1, keys);
  return keys;
}

function findBelow(map: LocatedMap, depth: number, keys: Map<string, SecretKind>): void {
  const fields = fieldsOf(map);
  const key = fields.get('key');
  const kind = strongerOf(kindOf(fields.get('hash_value')), kindOfToken(fields.get('value_hash')));
  if (key?.kind === 'scalar' && kind !== undefined)
    keys.set(key.text, strongerOf(keys.get(key.text), kind) ?? kind);
  const below = fields.get('descriptors');
  if (below?.kind !== 'list' || depth >= MAX_DEPTH) return;
  for (const item of below.items) if (item.kind === 'map') findBelow(item, depth + 2, keys);
}

function fieldsOf({ pairs }: LocatedMap): ReadonlyMap<string, Located> {
  const fields = new Map<string, Located>();
  for (const { key, value } of pairs) if (key.kind === 'scalar') fields.set(key.text, value);
  return fields;
}

/** A key that is keyed anywhere is keyed everywhere. */
function strongerOf(a: SecretKind | undefined, b: SecretKind | undefined): SecretKind | undefined {
  return a === 'keyed' ? a : (b ?? a);
}

/** The kind that `hash_value` selects; undefined when it is off or a mistake. */
function kindOf(node: Located | undefined): SecretKind | undefined {
  if (node?.kind !== 'scalar') return undefined;
  if (node.text === 'sha256') return 'sha256';
  const resolved = resolveScalar(node);
  return resolved.type === 'boolean' && resolved.value ? 'keyed' : undefined;
}

function kindOfToken(field: Located | undefined): SecretKind | undefined {
  const node = present(field);
  if (node?.kind !== 'scalar') return undefined;
  return schemeOf(node.text) === 'sha256' ? 'sha256' : 'keyed';
}

/** A descriptor's fields for secret values, checked. No message shows a value. */
export function readSecret(
  fields: RuleFields<'descriptor'>,
  { key, value }: Pick<RuleDefinition, 'key' | 'value'>,
  rules: SecretRules,
): Pick<RuleDefinition, 'secret' | 'valueHash'> {
  const { map, report } = fields;
  const secret = rules.keys.get(key);
  const valueHash = readValueHash(fields, value, rules);
  const asked = readHashValue(fields, rules);
  if (secret === undefined) return {};
  if (key.includes('\0')) {
    const message = `the key ${quote(key)} cannot be hashed: expected a string without the character 0`;
    report.error(map.at, 'bad-hash-value', message);
  }
  if (valueHash !== undefined) return { secret, valueHash };
  if (asked !== secret) report.warning(map.at, 'hash-mixed', mixed(key, secret));
  if (value !== undefined && !value.includes('*')) {
    const message = `a value of the secret key ${quote(key)} is in the file in plain text: expected value_hash`;
    fields.warning('value', 'secret-in-file', message);
  }
  return { secret };
}

function mixed(key: string, secret: SecretKind): string {
  const expected = secret === 'keyed' ? 'true' : 'sha256';
  return `the values of ${quote(key)} are hashed here too, because another entry with this key says so: expected hash_value: ${expected}`;
}

function readHashValue(
  fields: RuleFields<'descriptor'>,
  { secretKeyIds }: SecretRules,
): SecretKind | undefined {
  const node = fields.given('hash_value');
  if (node === undefined) return undefined;
  const kind = kindOf(node);
  const resolved = node.kind === 'scalar' ? resolveScalar(node) : undefined;
  const isOff = resolved?.type === 'boolean' && !resolved.value;
  if (kind === undefined && !isOff) {
    const message = `hash_value must be true, false or sha256; found ${describe(node)}`;
    fields.error('hash_value', 'bad-hash-value', message);
  }
  if (kind === 'keyed' && secretKeyIds?.length === 0) {
    const message = `hash_value: true needs a key: set SECRET_KEYS_FILE, or hash_value: sha256`;
    fields.error('hash_value', 'no-secret-keys', message);
  }
  return kind;
}

function readValueHash(
  fields: RuleFields<'descriptor'>,
  value: string | undefined,
  { secretKeyIds }: SecretRules,
): string | undefined {
  const token = fields.read('value_hash');
  if (token === undefined || token === '') return undefined;
  if (value !== undefined) {
    const message = 'value_hash cannot be combined with value; expected one or the other';
    fields.error('value_hash', 'value-beside-value-hash', message);
  }
  const scheme = schemeOf(token);
  if (scheme === undefined) {
    // The text may be the secret itself.
    const message = `value_hash must be h<id>- or s- and 32 hexadecimal digits, as ratelimit-hash-value prints it; found another string of ${String(token.length)} characters`;
    fields.error('value_hash', 'bad-value-hash', message);
    return undefined;
  }
  if (scheme === 'sha256' || secretKeyIds === undefined || secretKeyIds.includes(scheme))
    return token;
  if (secretKeyIds.length === 0) {
    const message = `value_hash needs the key ${String(scheme)}: set SECRET_KEYS_FILE`;
    fields.error('value_hash', 'no-secret-keys', message);
  } else {
    const message = `value_hash names the key ${String(scheme)}, which is not in the file of keys: expected one of ${secretKeyIds.join(', ')}`;
    fields.warning('value_hash', 'unknown-secret-key', message);
  }
  return token;
}
