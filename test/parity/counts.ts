import type { RedisServer } from '../support/redis-server';

interface Count {
  readonly value: string;
  readonly ttlSeconds: number;
  /** Unix milliseconds at which its time to live ends, in Redis. */
  readonly endMs?: number;
}

/** What a store holds, by key. */
export type Counts = ReadonlyMap<string, Count>;

export async function readRedis({ client }: RedisServer): Promise<Counts> {
  const keys = await client.keys('*');
  const rows = await Promise.all(
    keys.map(async (key) => {
      const [value, ttlSeconds, endMs] = await Promise.all([
        client.get(key),
        client.ttl(key),
        client.pexpiretime(key),
      ]);
      return [key, { value: value ?? '', ttlSeconds, endMs }] as const;
    }),
  );
  return new Map(rows);
}

/** Counters with their end, where the store says it: the seconds to it pass between two looks. */
export function toLasting(stores: readonly Counts[]) {
  return stores.map((counts) =>
    [...counts].map(([key, { value, ttlSeconds, endMs }]) => [key, value, endMs ?? ttlSeconds]),
  );
}

export function changedValues(before: Counts | undefined, after: Counts): Record<string, string> {
  const changed: Record<string, string> = {};
  for (const [key, { value }] of after) if (before?.get(key)?.value !== value) changed[key] = value;
  return changed;
}

export function expectTtl(counts: Counts, key: string, least: number, most: number): void {
  const ttlSeconds = Math.floor(counts.get(key)?.ttlSeconds ?? NaN);
  expect(ttlSeconds).toBeGreaterThanOrEqual(least - 2);
  expect(ttlSeconds).toBeLessThanOrEqual(most);
}
