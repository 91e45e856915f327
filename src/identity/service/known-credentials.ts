import { hash } from 'node:crypto';

/** What a caller has shown, by hashes: nobody can read a credential from memory or from a core dump. */
export interface Shown {
  /** Of the address and the token. */
  readonly pair: string;
  /** Of the API key that came along. */
  readonly apiKey: string;
}

/**
 * Which credentials were good a while ago, from which address. They spare their callers a budget that their
 * neighbours have spent, and prove nothing: each of them is checked again.
 *
 * The address belongs to it, so that nobody learns at one address whether a token is in use at another.
 */
export interface KnownCredentials {
  has(shown: Shown): boolean;
  add(shown: Shown): void;
  drop(shown: Shown): void;
}

/** Some 250 bytes each. */
const MOST = 10_000;

export function createKnownCredentials(most = MOST): KnownCredentials {
  /** The API key by the pair: a caller who varies it takes one place all the same. */
  const known = new Map<string, string>();
  return {
    has: ({ pair, apiKey }) => known.get(pair) === apiKey,
    add({ pair, apiKey }) {
      known.delete(pair);
      const [oldest] = known.keys();
      if (known.size >= most && oldest !== undefined) known.delete(oldest);
      known.set(pair, apiKey);
    },
    drop({ pair }) {
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
