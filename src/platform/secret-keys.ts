import { createSecretKey, type KeyObject, randomUUID, hash } from 'node:crypto';
import { RecentTexts } from './recent-texts';

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

export interface NamedSecret {
  readonly key: string;
  readonly value: string;
}

/** Prefix of stand-in values for a token. */
const STAND_IN = `${randomUUID()} `;

const REMEMBERED = 8_192;
/** Longer ones are hashed again: this bounds the cache to a few megabytes. */
const MAX_REMEMBERED_LENGTH = 512;

/**
 * Makes tokens: `h<id>-` or, by a plain hash, `s-`, and 32 hexadecimal digits over the name of the key, a zero and the value.
 * Without keys all tokens are plain hashes.
 */
export class TokenMaker {
  readonly #clock: () => number;
  readonly #recent = new RecentTexts(REMEMBERED);
  #keys: readonly SecretKey[] = [];
  #hashes: ReadonlyMap<number, HashText> = new Map();

  /** `clock`: Unix seconds. */
  constructor(clock: () => number, keys: readonly SecretKey[] = []) {
    this.#clock = clock;
    this.use(keys);
  }

  get keys(): readonly SecretKey[] {
    return this.#keys;
  }

  use(keys: readonly SecretKey[]): void {
    this.#keys = keys;
    this.#hashes = new Map(keys.map(({ id, key }) => [id, createKeyedHash(key)]));
    this.#recent.clear();
  }

  tokenOf(secret: NamedSecret, kind: 'keyed' | 'sha256', atSeconds = this.#clock()): string {
    const given = givenToken(secret);
    if (given !== undefined) return given;
    const id = kind === 'keyed' ? keyAt(this.#keys, atSeconds)?.id : undefined;
    return this.tokenUnder(secret, id ?? 'sha256') ?? this.#token('s-', plainHash, secret);
  }

  /** Undefined when no key has this id. */
  tokenUnder(secret: NamedSecret, scheme: number | 'sha256'): string | undefined {
    const prefix = scheme === 'sha256' ? 's-' : `h${String(scheme)}-`;
    const given = givenToken(secret);
    if (given !== undefined) return given.startsWith(prefix) ? given : undefined;
    const hashText = scheme === 'sha256' ? plainHash : this.#hashes.get(scheme);
    return hashText && this.#token(prefix, hashText, secret);
  }

  standIn(token: string): string {
    return STAND_IN + token;
  }

  #token(prefix: string, hashText: HashText, { key, value }: NamedSecret): string {
    const text = `${key}\0${value}`;
    if (text.length > MAX_REMEMBERED_LENGTH) return prefix + hashText(text);
    const name = prefix + text;
    const known = this.#recent.get(name);
    if (known !== undefined) return known;
    const token = prefix + hashText(text);
    this.#recent.set(name, token);
    return token;
  }
}

function givenToken({ value }: NamedSecret): string | undefined {
  return value.startsWith(STAND_IN) ? value.slice(STAND_IN.length) : undefined;
}

/** The block of SHA-256 in bytes. */
const BLOCK = 64;
const DIGEST = 32;
/** Longer texts get a buffer of their own. */
const MAX_KEPT_BYTES = 4_096;
/** Maximal bytes of a UTF-16 unit in UTF-8. */
const MAX_BYTES_PER_UNIT = 3;
/** Bytes of a digest that a token shows. */
const SHOWN = 16;

/** Makes the first 128 bits of a hash of a text as 32 hexadecimal digits. */
type HashText = (text: string) => string;

/** HMAC-SHA-256 by two one-shot hashes with prepared pads: less than half the time of `createHmac`. */
export function createKeyedHash(key: KeyObject): HashText {
  const secret = key.export();
  const short = secret.length > BLOCK ? hash('sha256', secret, 'buffer') : secret;
  const inner = Buffer.alloc(BLOCK + MAX_KEPT_BYTES);
  const outer = Buffer.alloc(BLOCK + DIGEST);
  for (let at = 0; at < BLOCK; at++) {
    inner[at] = (short[at] ?? 0) ^ 0x36;
    outer[at] = (short[at] ?? 0) ^ 0x5c;
  }
  return (text) => {
    hash('sha256', padded(inner, text), 'buffer').copy(outer, BLOCK);
    return hash('sha256', outer, 'buffer').toString('hex', 0, SHOWN);
  };
}

function padded(inner: Buffer, text: string): Buffer {
  if (text.length * MAX_BYTES_PER_UNIT > MAX_KEPT_BYTES)
    return Buffer.concat([inner.subarray(0, BLOCK), Buffer.from(text)]);
  return inner.subarray(0, BLOCK + inner.write(text, BLOCK));
}

/** SHA-256 without a key. */
const plainHash: HashText = (text) => hash('sha256', text, 'buffer').toString('hex', 0, SHOWN);
