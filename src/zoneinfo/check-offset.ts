import { MAX_OFFSET_SECONDS } from '../core/windows/time-zone';

/** Throws where an offset from UTC exceeds that of any zone. */
export function checkOffset(seconds: number): number {
  if (Math.abs(seconds) <= MAX_OFFSET_SECONDS) return seconds;
  throw new Error(`an offset is ${String(seconds)} s: expected at most 16 hours`);
}
