import { hash } from 'node:crypto';

/** Hashes of a client's credentials, so that memory and core dumps contain none. */
export interface Shown {
  /** Hash of the address and the token. */
  readonly pair: string;
  /** Hash of the accompanying API key. */
  readonly apiKey: string;
}

/** About 250 bytes each. */
const MAX_KNOWN = 10_000;

/**
 * Credentials that were valid recently, with their addresses. They exempt their clients from a budget that their neighbours have
 * spent, and prove nothing: each of them is checked again.
 *
 * The address is part of it, so that one address cannot learn whether a token is in use at another.
 */
export function createKnownCredentials(max = MAX_KNOWN) {
  /** The API key by the pair: a caller who varies it occupies one entry all the same. */
  const known = new Map<string, string>();
  return {
    has: ({ pair, apiKey }: Shown) => known.get(pair) === apiKey,
    add({ pair, apiKey }: Shown) {
      known.delete(pair);
      const [oldest] = known.keys();
      if (known.size >= max && oldest !== undefined) known.delete(oldest);
      known.set(pair, apiKey);
    },
    drop({ pair }: Shown) {
      known.delete(pair);
    },
  };
}

/** No header contains a line break, so that different lists of texts differ. */
export function toShown(address: string, token: string, apiKeys: readonly string[]): Shown {
  const digest = (text: string): string => hash('sha256', text, 'base64url');
  return {
    pair: digest(`${address}\n${token}`),
    apiKey: apiKeys.length === 0 ? '' : digest(apiKeys.join('\n')),
  };
}
