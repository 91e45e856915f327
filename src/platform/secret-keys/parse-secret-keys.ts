import { createSecretKey, type KeyObject } from 'node:crypto';

/** A key under which secret values are hashed. */
export interface SecretKey {
  /** 1 to 999; part of every token. */
  readonly id: number;
  readonly key: KeyObject;
  /** Unix seconds from which it is used; -Infinity: always. */
  readonly fromSeconds: number;
}

const MIN_KEY_BYTES = 32;
const EXPECTED = '<id> <key in base64> [from <RFC 3339 time>]';
const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/**
 * The keys of a file, the one used first in front: one per line, without blank lines and lines that start with #. Throws, naming
 * every mistaken line and no key.
 */
export function parseSecretKeys(text: string): readonly SecretKey[] {
  const problems: string[] = [];
  const keys: SecretKey[] = [];
  for (const [at, line] of text.split('\n').entries()) {
    const words = line.trim().split(/\s+/);
    if (isPassedOver(words)) continue;
    const read = readKey(words);
    const problem = typeof read === 'string' ? read : clashOf(read, keys);
    if (problem !== undefined) problems.push(`line ${String(at + 1)}: ${problem}`);
    else if (typeof read !== 'string') keys.push(read);
  }
  if (problems.length === 0 && keys.length === 0) problems.push(`no key: expected ${EXPECTED}`);
  if (problems.length > 0) throw new Error(problems.join('; '));
  return keys.sort((a, b) => a.fromSeconds - b.fromSeconds);
}

function isPassedOver([first = '']: readonly string[]): boolean {
  return first === '' || first.startsWith('#');
}

/** A string is the mistake. */
function readKey([id = '', base64 = '', ...rest]: readonly string[]): SecretKey | string {
  if (!/^[1-9]\d{0,2}$/.test(id)) return `expected an id from 1 to 999, as in ${EXPECTED}`;
  if (!BASE64.test(base64)) return `the key ${id} is not base64: expected ${EXPECTED}`;
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.length < MIN_KEY_BYTES) {
    const found = `the key ${id} has ${String(bytes.length)} bytes`;
    return `${found}: expected at least ${String(MIN_KEY_BYTES)}, as openssl rand -base64 32 makes them`;
  }
  const fromSeconds = readFrom(rest, id);
  if (typeof fromSeconds === 'string') return fromSeconds;
  return { id: Number(id), key: createSecretKey(bytes), fromSeconds };
}

function readFrom([word, time = '', more]: readonly string[], id: string): number | string {
  if (word === undefined) return -Infinity;
  if (word !== 'from' || more !== undefined)
    return `something else follows the key ${id}: expected ${EXPECTED}`;
  const ms = RFC_3339.test(time) ? Date.parse(time) : NaN;
  if (!Number.isNaN(ms)) return ms / 1_000;
  return `the key ${id} is used from ${JSON.stringify(time)}: expected an RFC 3339 time, 2026-12-01T00:00:00Z`;
}

function clashOf(one: SecretKey, keys: readonly SecretKey[]): string | undefined {
  const id = String(one.id);
  if (keys.some((key) => key.id === one.id)) return `the id ${id} is listed twice`;
  const other = keys.find((key) => key.fromSeconds === one.fromSeconds);
  if (other === undefined) return undefined;
  return `the keys ${String(other.id)} and ${id} are used from the same time: expected another \`from\` for one of them`;
}

/** The newest key in use at a Unix second; before all of them the first one. */
export function keyAt(keys: readonly SecretKey[], seconds: number): SecretKey | undefined {
  let found = keys[0];
  for (const key of keys) if (key.fromSeconds <= seconds) found = key;
  return found;
}
