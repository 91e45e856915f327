import type { Redis } from 'ioredis';

interface Count {
  readonly value: string;
  readonly ttlSeconds: number;
  /** Unix milliseconds at which its time to live ends, in Redis. */
  readonly endMs?: number;
}

/** What a store holds, by key. */
export type Counts = ReadonlyMap<string, Count>;

/** All that a Redis holds in one answer: a replay reads it thousands of times. */
const READ_ALL = `local rows = {}
for at, key in ipairs(redis.call('KEYS', '*')) do
  rows[at] = {key, redis.call('GET', key), redis.call('TTL', key), redis.call('PEXPIRETIME', key)}
end
return rows`;

type Row = readonly [key: string, value: string, ttlSeconds: number, endMs: number];

export async function readRedis({ client }: { readonly client: Redis }): Promise<Counts> {
  const rows = (await client.eval(READ_ALL, 0)) as readonly Row[];
  return new Map(
    rows.map(([key, value, ttlSeconds, endMs]) => [key, { value, ttlSeconds, endMs }] as const),
  );
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
  const moved = before.flatMap((counts, store) =>
    [...counts].filter(([key, { ttlSeconds }]) => {
      const now = ttlOf(after[store], key);
      return !(now <= ttlSeconds && now >= ttlSeconds - passedSeconds - ROUNDED_SECONDS);
    }),
  );
  expect(moved).toEqual([]);
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
  const ttlSeconds = ttlOf(counts, key);
  expect(ttlSeconds).toBeGreaterThanOrEqual(least - passedSeconds - ROUNDED_SECONDS);
  expect(ttlSeconds).toBeLessThanOrEqual(most);
}

function ttlOf(counts: Counts | undefined, key: string): number {
  return Math.floor(counts?.get(key)?.ttlSeconds ?? NaN);
}
