import { type Counter } from './window-bucket';

/** Counters are 64-bit integers in every store. */
const LARGEST_COUNT = 2n ** 63n - 1n;

/** Adds hits to a counter, never below 0; false, and nothing changed, when it would overflow. */
export function applyHits(counter: Counter, hits: number | bigint): boolean {
  if (typeof hits === 'bigint' || counter.exact !== undefined) return applyExactly(counter, hits);
  const next = counter.count + hits;
  if (next > Number.MAX_SAFE_INTEGER) return applyExactly(counter, hits);
  counter.count = next < 0 ? 0 : next;
  return true;
}

function applyExactly(counter: Counter, hits: number | bigint): boolean {
  const sum = (counter.exact ?? BigInt(counter.count)) + BigInt(hits);
  if (sum > LARGEST_COUNT) return false;
  const next = sum < 0n ? 0n : sum;
  counter.exact = next > BigInt(Number.MAX_SAFE_INTEGER) ? next : undefined;
  counter.count = Number(next);
  return true;
}
