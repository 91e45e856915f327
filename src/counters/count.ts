import { StoreError } from '../core/errors';
import type { CounterReading } from '../core/ports';

/** A counter's value, or hits: a bigint where a number would lose digits. */
export type Count = number | bigint;

/** Counters are 64-bit integers in every store. */
const MAX_COUNT = 2n ** 63n - 1n;

/** Whether a store's answer can be a count: a whole number from 0 to 2^63 - 1; the nearest double of the maximum is 2^63. */
export function isCount(answer: unknown): answer is number {
  return Number.isInteger(answer) && (answer as number) >= 0 && (answer as number) <= 2 ** 63;
}

/** The count after hits are added, never below 0; an error on overflow. */
export function addHits(count: Count, hits: Count): Count | StoreError {
  if (typeof count === 'number' && typeof hits === 'number') {
    const sum = count + hits;
    if (sum <= Number.MAX_SAFE_INTEGER) return sum < 0 ? 0 : sum;
  }
  const sum = BigInt(count) + BigInt(hits);
  if (sum <= MAX_COUNT) return sum < 0n ? 0n : sum;
  return toKeyError(
    `a counter would overflow: it is at ${String(count)} and ${String(hits)} hits were to be added`,
  );
}

/** An error of one counter, fit to be sent to a client. */
export function toKeyError(message: string): StoreError {
  return new StoreError('store_unavailable', message, { fault: 'key', forCaller: message });
}

export function unread(store: string, error: StoreError): CounterReading {
  return { count: 0, expiresInSeconds: undefined, store, error };
}
