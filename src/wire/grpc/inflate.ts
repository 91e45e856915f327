import { MAX_MESSAGE_BYTES, tooLarge } from './body';
import { StatusCode, grpcStatus, type GrpcStatus } from './status';

/**
 * Unpacks gzip. Answers `too-large` when more than `maxBytes` would come out (and stops there), and
 * undefined for what is no gzip.
 */
export type Inflate = (
  packed: Uint8Array,
  maxBytes: number,
) => Uint8Array | 'too-large' | undefined;

/**
 * Decompression bombs: beyond the first octets a message may not unpack to more than so many times its
 * size, so that a caller's octets buy a bounded amount of our time.
 */
export const MAX_INFLATE_RATIO = 100;
export const FREE_INFLATED_BYTES = 256 * 1024;

/** Unpacks a compressed message; answers the status of the call when that cannot be. */
export function unpack(
  inflate: Inflate,
  isGzip: boolean,
  packed: Uint8Array,
): Uint8Array | GrpcStatus {
  if (!isGzip) {
    return grpcStatus(StatusCode.internal, 'compressed message without a grpc-encoding');
  }
  const maxBytes = Math.min(
    MAX_MESSAGE_BYTES,
    FREE_INFLATED_BYTES + MAX_INFLATE_RATIO * packed.length,
  );
  const plain = inflate(packed, maxBytes);
  if (plain === 'too-large') {
    return maxBytes === MAX_MESSAGE_BYTES ? tooLarge(maxBytes + 1) : SUSPICIOUS_RATIO;
  }
  return plain ?? grpcStatus(StatusCode.internal, 'the message is no gzip');
}

const SUSPICIOUS_RATIO = grpcStatus(
  StatusCode.resourceExhausted,
  `a message may not unpack to more than ${String(MAX_INFLATE_RATIO)} times its size`,
);
