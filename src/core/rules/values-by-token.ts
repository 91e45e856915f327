import { schemeOf, type Tokens, type TokenScheme } from './secrets';

/**
 * Entries of one key by their value, some of which are written as tokens (`value_hash`). Iterates over values and tokens as
 * written. A value that reads like a token matches no token: a token is public and must open nothing.
 */
export class ValuesByToken<N> extends Map<string, N> {
  readonly #key: string;
  readonly #tokens: Tokens;
  readonly #hashed: ReadonlySet<string>;
  readonly #schemes: readonly TokenScheme[];

  constructor(
    key: string,
    entries: Iterable<readonly [string, N]>,
    hashed: ReadonlySet<string>,
    tokens: Tokens,
  ) {
    super(entries);
    this.#key = key;
    this.#tokens = tokens;
    this.#hashed = hashed;
    const schemes = [...hashed].map(schemeOf).filter((scheme) => scheme !== undefined);
    this.#schemes = [...new Set(schemes)];
  }

  override get(value: string): N | undefined {
    const exact = this.#hashed.has(value) ? undefined : super.get(value);
    return exact ?? this.#byToken(value);
  }

  #byToken(value: string): N | undefined {
    const entry = { key: this.#key, value };
    for (const scheme of this.#schemes) {
      const token = this.#tokens.tokenUnder(entry, scheme);
      const found = token === undefined ? undefined : super.get(token);
      if (token !== undefined && found !== undefined && this.#hashed.has(token)) return found;
    }
    return undefined;
  }
}
