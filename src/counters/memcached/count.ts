import { type StoreError } from '../../core/errors';
import { toKeyError } from './store-errors';

/** A counter's value: a bigint where a number would lose digits. */
export type Count = number | bigint;

/** Counters are 64-bit integers in every store; memcached itself would go on to 2^64 and begin anew. */
const LARGEST_COUNT = 2n ** 63n - 1n;

const SAFE_DIGITS = 15;

/** Reads a counter's text; `decr` leaves blanks behind it. An error when it is no count. */
export function parseCount(text: string): Count | StoreError {
  const digits = text.trimEnd();
  if (/^\d{1,20}$/.test(digits))
    return digits.length <= SAFE_DIGITS ? Number(digits) : BigInt(digits);
  return toKeyError('memcached holds a value under the key of a counter that is not a number');
}

/** A count after hits were added, never below 0; an error when it would overflow. */
export function addHits(count: Count, hits: Count): Count | StoreError {
  if (typeof count === 'number' && typeof hits === 'number') {
    const sum = count + hits;
    if (sum <= Number.MAX_SAFE_INTEGER) return sum < 0 ? 0 : sum;
  }
  const sum = BigInt(count) + BigInt(hits);
  if (sum <= LARGEST_COUNT) return sum < 0n ? 0n : sum;
  const message = `a counter would overflow: it stands at ${String(count)} and ${String(hits)} hits were to be added`;
  return toKeyError(message);
}

/** Hits of one sign together. */
export function sumHits(one: Count, other: Count): Count {
  if (typeof one === 'number' && typeof other === 'number' && Number.isSafeInteger(one + other))
    return one + other;
  return BigInt(one) + BigInt(other);
}
