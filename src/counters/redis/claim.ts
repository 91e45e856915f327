import { type RedisConnection } from './connection';

/** A text under a key that the first of several instances writes. */
export interface Claim {
  readonly key: string;
  readonly text: string;
  /** Time to live, renewed by each instance that claims the same text. */
  readonly ttlSeconds: number;
}

/** The text that the store holds under the key: this one when there was none. */
export async function claimText(
  connection: RedisConnection,
  { key, text, ttlSeconds }: Claim,
): Promise<string> {
  const { client } = connection;
  try {
    const isFirst = (await client.set(key, text, 'EX', ttlSeconds, 'NX')) === 'OK';
    const held = isFirst ? text : await client.get(key);
    if (held === text && !isFirst) await client.expire(key, ttlSeconds);
    return held ?? text;
  } catch (error) {
    throw connection.toError(error);
  }
}
