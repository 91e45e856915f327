import { randomUUID } from 'node:crypto';
import { createKeyedHash, plainHash, type HashText } from './keyed-hash';
import { keyAt, type SecretKey } from './parse-secret-keys';
import { RecentTexts } from '../recent-texts';

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
