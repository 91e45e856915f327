/** A bounded memory of keys: two halves, of which the older one is forgotten when the newer is full. */
export interface RecentKeys {
  has(key: string): boolean;
  add(key: string): void;
}

export function createRecentKeys(capacity: number): RecentKeys {
  const half = Math.ceil(capacity / 2);
  let newer = new Set<string>();
  let older = new Set<string>();
  return {
    has: (key) => newer.has(key) || older.has(key),
    add(key) {
      newer.add(key);
      if (newer.size < half) return;
      older = newer;
      newer = new Set();
    },
  };
}
