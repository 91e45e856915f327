import { settled, StoreError } from '../../core/errors';
import { type CounterReading } from '../../core/ports';
import { unread } from '../unread';
import { type RedisNode } from './node';
import { type ReadCounts } from './pipeline';

export async function peekAt(
  node: RedisNode,
  keys: readonly string[],
): Promise<ReadonlyMap<string, CounterReading>> {
  const read = await settled(() => node.read(keys, { withLives: true }));
  return new Map(keys.map((key) => [key, toReading(key, `Redis at ${node.store}`, read)]));
}

export function toReading(
  key: string,
  store: string,
  read: ReadCounts | StoreError,
): CounterReading {
  if (read instanceof StoreError) return unread(store, read);
  const { counts, livesMs, failures } = read;
  const lifeMs = livesMs.get(key);
  return {
    count: counts.get(key) ?? 0,
    expiresInSeconds: lifeMs === undefined ? undefined : Math.ceil(lifeMs / 1_000),
    store,
    error: failures.get(key),
  };
}
