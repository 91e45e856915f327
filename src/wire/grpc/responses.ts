import { putUint32 } from '../bytes';
import type { MessageEncoder, UnaryBlocks } from '../http2/api';
import { encodeStatelessBlock } from '../http2/hpack/encoder';
import { PREFIX_BYTES } from './body';
import { percentEncode, type GrpcStatus } from './status';

/** The request encodings that we read; responses are never compressed. */
export const ACCEPTED_ENCODINGS = 'identity,gzip';

const CONTENT_TYPE = ['content-type', 'application/grpc'] as const;

/** The headers before every message. */
export const RESPONSE_HEADERS = encodeStatelessBlock([[':status', '200'], CONTENT_TYPE]);

export const OK_TRAILERS = encodeStatelessBlock([['grpc-status', '0']]);

export const UNARY_BLOCKS: UnaryBlocks = { headers: RESPONSE_HEADERS, trailers: OK_TRAILERS };

/** A response that is only a header block: the call failed before it began (`trailers-only`). */
export function rejectionBlock(
  httpStatus: number,
  status: GrpcStatus,
  more: readonly (readonly [string, string])[] = [],
): Uint8Array {
  return encodeStatelessBlock([
    [':status', String(httpStatus)],
    CONTENT_TYPE,
    ...statusFields(status),
    ...more,
  ]);
}

/** The trailers of a response that has begun. */
export function trailersBlock(status: GrpcStatus): Uint8Array {
  return encodeStatelessBlock(statusFields(status));
}

function statusFields({ code, message }: GrpcStatus) {
  return [
    ['grpc-status', String(code)],
    ['grpc-message', percentEncode(message)],
  ] as const;
}

/** Equal failures come in crowds (the store is away): their blocks are encoded once. */
const MAX_REMEMBERED = 64;

/** `rejectionBlock` with HTTP status 200, remembered; holds a bounded number of blocks. */
export function createRejectionBlocks(): (status: GrpcStatus) => Uint8Array {
  const blocks = new Map<string, Uint8Array>();
  return (status) => {
    const key = `${String(status.code)} ${status.message}`;
    const known = blocks.get(key);
    if (known !== undefined) return known;
    if (blocks.size >= MAX_REMEMBERED) blocks.clear();
    const block = rejectionBlock(200, status);
    blocks.set(key, block);
    return block;
  };
}

/** An encoder that puts the gRPC prefix before what `write` writes. */
export function framed<R>({ maxBytes, write }: MessageEncoder<R>): MessageEncoder<R> {
  return {
    maxBytes: (message) => PREFIX_BYTES + maxBytes(message),
    write: (message, out, at) => {
      const end = write(message, out, at + PREFIX_BYTES);
      writePrefix(out, at, end - at - PREFIX_BYTES);
      return end;
    },
  };
}

/** A copy of `message` with its prefix. */
export function framedCopy(message: Uint8Array): Uint8Array {
  const copy = new Uint8Array(PREFIX_BYTES + message.length);
  writePrefix(copy, 0, message.length);
  copy.set(message, PREFIX_BYTES);
  return copy;
}

function writePrefix(out: Uint8Array, at: number, length: number): void {
  out[at] = 0;
  putUint32(out, at + 1, length);
}
