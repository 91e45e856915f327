/** Bytes to which every message or body may unpack, however small it is. */
export const FREE_UNPACKED_BYTES = 256 * 1024;

/** How large messages may be, absolutely and relative to their compressed size. */
export interface UnpackBounds {
  /** For a message, compressed and unpacked. */
  readonly maxBytes: number;
  /** MAX_UNPACK_RATIO. */
  readonly maxRatio: number;
}

/**
 * Bytes to which something compressed may unpack: `maxRatio` times its size beyond the free ones, so that a client's bytes cost a
 * bounded amount of our time and memory.
 */
export function unpackedLimit(packedBytes: number, { maxBytes, maxRatio }: UnpackBounds): number {
  return Math.min(maxBytes, FREE_UNPACKED_BYTES + maxRatio * packedBytes);
}

/** Why something compressed was refused at that limit. */
export function unpackReason(what: string, maxRatio: number): string {
  return `${what} unpacks to more than MAX_UNPACK_RATIO (${String(maxRatio)}) times its size`;
}
