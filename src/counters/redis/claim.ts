import { type RedisCounters } from './options';

/** A text under a key that the first of several instances writes. */
export interface Claim {
  readonly key: string;
  readonly text: string;
  /** Time to live, renewed by each instance that claims the same text. */
  readonly ttlSeconds: number;
}

/** The text that the store holds under the key: this one if there was none. Rejects with a StoreError. */
export async function claimText(
  counters: Pick<RedisCounters, 'send'>,
  { key, text, ttlSeconds }: Claim,
): Promise<string> {
  const ttl = String(ttlSeconds);
  const [made, held] = await counters.send(key, [
    ['set', key, text, 'EX', ttl, 'NX'],
    ['get', key],
  ]);
  if (held === text && made === null) await counters.send(key, [['expire', key, ttl]]);
  return typeof held === 'string' ? held : text;
}
