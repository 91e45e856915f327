import type { CounterBatch, Counters, Increment } from '../../src/core/ports';
import { plain } from './limiters';
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
/** One for all: a key stands for one window, so that its end never moves, not even when a second begins between two batches. */
const WINDOW_END_SECONDS = Math.ceil(Date.now() / 1_000) + 3_600;
let serial = 0;

/** A key that no other test uses. */
export function freshKey(name = 'key'): string {
  serial += 1;
  return `contract_${name}_${String(serial)}_1795240200`;
}

export function increment(key: string, hits: number | bigint = 1, more?: Partial<Increment>) {
  const full: Increment = {
    key,
    hits,
    ...plain(more?.limit ?? 10),
    ttlSeconds: TTL_SECONDS,
    windowEndSeconds: WINDOW_END_SECONDS,
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
