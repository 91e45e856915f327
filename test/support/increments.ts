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
/** When all batches are asked: before the clock of any store, which takes what lies ahead of it for a fault of ours. */
export const START_SECONDS = 1_700_000_000;
/** One for all: a key stands for one window. */
const WINDOW_END_SECONDS = START_SECONDS + 3_600;
let serial = 0;

/** A key that no other test uses. */
export function freshKey(name = 'key'): string {
  serial += 1;
  return `contract_${name}_${String(serial)}_${String(START_SECONDS)}`;
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
  return { increments, groupEnds, nowSeconds: START_SECONDS };
}
