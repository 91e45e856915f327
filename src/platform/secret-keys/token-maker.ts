import { createKeyedHash, plainHash, type HashText } from './keyed-hash';
import { keyAt, type SecretKey } from './parse-secret-keys';
import { RecentTexts } from './recent-texts';

/** A key's name and a secret value. */
export interface NamedSecret {
  readonly key: string;
  readonly value: string;
}

/** Values whose tokens are remembered. */
const REMEMBERED = 8_192;
/** Longer ones are hashed anew: with it, the memory takes a few megabytes at most. */
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

  /** Uses these keys from now on. */
  use(keys: readonly SecretKey[]): void {
    this.#keys = keys;
    this.#hashes = new Map(keys.map(({ id, key }) => [id, createKeyedHash(key)]));
    this.#recent.clear();
  }

  tokenOf(secret: NamedSecret, kind: 'keyed' | 'sha256', atSeconds = this.#clock()): string {
    const id = kind === 'keyed' ? keyAt(this.#keys, atSeconds)?.id : undefined;
    const made = id === undefined ? undefined : this.tokenUnder(secret, id);
    return made ?? this.#token('s-', plainHash, secret);
  }

  /** Undefined when no key has this id. */
  tokenUnder(secret: NamedSecret, scheme: number | 'sha256'): string | undefined {
    if (scheme === 'sha256') return this.#token('s-', plainHash, secret);
    const hashText = this.#hashes.get(scheme);
    return hashText && this.#token(`h${String(scheme)}-`, hashText, secret);
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
