/** What a message or body may unpack to, however small it came. */
export const FREE_UNPACKED_BYTES = 256 * 1024;

/** How large messages may be, and how much larger than what came. */
export interface UnpackBounds {
  /** Of a message, as it comes and unpacked. */
  readonly maxBytes: number;
  /** MAX_UNPACK_RATIO. */
  readonly maxRatio: number;
}

/**
 * Bytes that something packed may unpack to: beyond the first, so many times what came, so that a client's bytes buy a
 * bounded amount of our time and memory.
 */
export function unpackedLimit(packedBytes: number, { maxBytes, maxRatio }: UnpackBounds): number {
  return Math.min(maxBytes, FREE_UNPACKED_BYTES + maxRatio * packedBytes);
}

/** Says why something packed was refused at that limit. */
export function unpackReason(what: string, maxRatio: number): string {
  return `${what} unpacks to more than MAX_UNPACK_RATIO (${String(maxRatio)}) times its size`;
}
