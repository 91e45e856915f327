/** Bits of a millisecond count that are multiplied separately, so that every product stays below 2^53. */
const LOW_BITS = 20;
const LOW = 2 ** LOW_BITS;
const WORD = 2 ** 32;
const NANOS_PER_MS = 1_000_000;

/** Writes Unix milliseconds with fraction as nanoseconds in fixed64 and returns where it ends. */
export function writeUnixNanos(bytes: Uint8Array, at: number, ms: number): number {
  const whole = Math.floor(ms);
  const high = Math.floor(whole / LOW);
  const fromHigh = high * NANOS_PER_MS;
  const fromLow = (whole - high * LOW) * NANOS_PER_MS + Math.round((ms - whole) * NANOS_PER_MS);
  // fromHigh counts pieces of 2^20: its lowest 12 bits fall into the lower word.
  const lower = (fromHigh % (WORD / LOW)) * LOW + fromLow;
  const upper = Math.floor(fromHigh / (WORD / LOW)) + Math.floor(lower / WORD);
  return putLittle(bytes, putLittle(bytes, at, lower % WORD), upper);
}

/** Writes 32 bits, the lowest byte first. */
function putLittle(bytes: Uint8Array, at: number, value: number): number {
  bytes[at] = value;
  bytes[at + 1] = value >>> 8;
  bytes[at + 2] = value >>> 16;
  bytes[at + 3] = value >>> 24;
  return at + 4;
}
