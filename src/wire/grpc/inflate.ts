import { unpackedLimit, unpackReason, type UnpackBounds } from '../unpacked-limit';
import { tooLarge } from './body';
import { StatusCode, grpcStatus, type GrpcStatus } from './status';

/** Unpacks gzip. Returns `too-large` once more than `maxBytes` come out, and undefined for invalid gzip. */
export type Inflate = (
  packed: Uint8Array,
  maxBytes: number,
) => Uint8Array | 'too-large' | undefined;

/** Unpacks a compressed message, or returns the status that ends the call. */
export function unpack(
  inflate: Inflate,
  isGzip: boolean,
  packed: Uint8Array,
  bounds: UnpackBounds,
): Uint8Array | GrpcStatus {
  if (!isGzip) {
    return grpcStatus(StatusCode.internal, 'compressed message without a grpc-encoding');
  }
  const { maxBytes } = bounds;
  const limit = unpackedLimit(packed.length, bounds);
  const plain = inflate(packed, limit);
  if (plain === 'too-large') {
    return limit === maxBytes
      ? tooLarge(maxBytes + 1, maxBytes)
      : grpcStatus(StatusCode.resourceExhausted, unpackReason('the message', bounds.maxRatio));
  }
  return plain ?? grpcStatus(StatusCode.internal, 'the message is not valid gzip');
}
