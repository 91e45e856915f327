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

/** Nothing of a store has changed in the seconds since, but times to live, which pass. */
export function expectUntouched(
  before: readonly Counts[],
  after: readonly Counts[],
  passedSeconds: number,
): void {
  const plain = (stores: readonly Counts[]) =>
    stores.map((counts) => [...counts].map(([key, { value, endMs }]) => [key, value, endMs]));
  expect(plain(after)).toEqual(plain(before));
  for (const [store, counts] of before.entries())
    for (const [key, { ttlSeconds }] of counts)
      if (after[store] !== undefined)
        expectTtl(after[store], key, [ttlSeconds, ttlSeconds], passedSeconds);
}

export function changedValues(before: Counts | undefined, after: Counts): Record<string, string> {
  const changed: Record<string, string> = {};
  for (const [key, { value }] of after) if (before?.get(key)?.value !== value) changed[key] = value;
  return changed;
}

/** A store tells whole seconds. */
const ROUNDED_SECONDS = 1;

/** The time to live of a counter that was written so many seconds ago at most. */
export function expectTtl(
  counts: Counts,
  key: string,
  [least, most]: readonly [least: number, most: number],
  passedSeconds: number,
): void {
  const ttlSeconds = Math.floor(counts.get(key)?.ttlSeconds ?? NaN);
  expect(ttlSeconds).toBeGreaterThanOrEqual(least - passedSeconds - ROUNDED_SECONDS);
  expect(ttlSeconds).toBeLessThanOrEqual(most);
}
