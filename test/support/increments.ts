import type { CounterBatch, Counters, Increment } from '../../src/core/ports';
import { SOME_MATCH } from './rules';

/** A store under test, and a look into it past its counters. */
export interface CountersUnderTest {
  readonly counters: Counters;
  /** The value to the last digit, and the time to live; undefined when there is no such counter. */
  read(key: string): Promise<{ value: string; ttlSeconds: number } | undefined>;
  /** Closes the counters and whatever stands behind them. */
  stop(): Promise<void>;
}

export const TTL_SECONDS = 4_000;
let serial = 0;

/** A key that no other test uses. */
export function freshKey(name = 'key'): string {
  serial += 1;
  return `contract_${name}_${String(serial)}_1795240200`;
}

export function increment(key: string, hits: number | bigint = 1, more?: Partial<Increment>) {
  const windowEndSeconds = Math.ceil(Date.now() / 1_000) + 3_600;
  const full: Increment = {
    key,
    hits,
    limit: 10,
    ttlSeconds: TTL_SECONDS,
    windowEndSeconds,
    ...SOME_MATCH,
    ...more,
  };
  return full;
}

export function batch(
  increments: readonly Increment[],
  groupEnds?: readonly number[],
): CounterBatch {
  return { increments, groupEnds, nowSeconds: Date.now() / 1_000 };
}
