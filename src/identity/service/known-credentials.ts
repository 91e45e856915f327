import { hash } from 'node:crypto';

/** Hashes of what a client has presented, so that memory and core dumps hold no credential. */
export interface Shown {
  /** Of the address and the token. */
  readonly pair: string;
  /** Of the API key that came along. */
  readonly apiKey: string;
}

/** About 250 bytes each. */
const MAX_KNOWN = 10_000;

/**
 * Which credentials were good a while ago, from which address. They exempt their clients from a budget that their
 * neighbours have spent, and prove nothing: each of them is checked again.
 *
 * The address belongs to it, so that one address cannot learn whether a token is in use at another.
 */
export function createKnownCredentials(max = MAX_KNOWN) {
  /** The API key by the pair: a caller who varies it takes one place all the same. */
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

/** No header holds a line break, so that no two sets of texts look alike. */
export function toShown(address: string, token: string, apiKeys: readonly string[]): Shown {
  const digest = (text: string): string => hash('sha256', text, 'base64url');
  return {
    pair: digest(`${address}\n${token}`),
    apiKey: apiKeys.length === 0 ? '' : digest(apiKeys.join('\n')),
  };
}
