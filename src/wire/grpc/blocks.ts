import { encodeStatelessBlock } from '../http2/hpack/encoder';
import { percentEncode, type GrpcStatus } from './status';

/** The request encodings that we read; answers are always plain. */
export const ACCEPTED_ENCODINGS = 'identity,gzip';

const CONTENT_TYPE = ['content-type', 'application/grpc'] as const;

/** The headers before every message. */
export const ANSWER_HEADERS = encodeStatelessBlock([[':status', '200'], CONTENT_TYPE]);

/** The trailers behind every answer. */
export const OK_TRAILERS = encodeStatelessBlock([['grpc-status', '0']]);

/** An answer that is only a header block: the call failed before it began (`trailers-only`). */
export function refusalBlock(
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

/** The trailers of an answer that had begun. */
export function trailersBlock(status: GrpcStatus): Uint8Array {
  return encodeStatelessBlock(statusFields(status));
}

function statusFields({ code, message }: GrpcStatus) {
  return [
    ['grpc-status', String(code)],
    ['grpc-message', percentEncode(message)],
  ] as const;
}

/** Failures come in crowds (a store that is away): their blocks are made once. */
const MAX_REMEMBERED = 64;

/** `refusalBlock` with HTTP status 200, remembered; holds a bounded number of blocks. */
export function createRefusalBlocks(): (status: GrpcStatus) => Uint8Array {
  const blocks = new Map<string, Uint8Array>();
  return (status) => {
    const key = `${String(status.code)} ${status.message}`;
    const known = blocks.get(key);
    if (known !== undefined) return known;
    if (blocks.size >= MAX_REMEMBERED) blocks.clear();
    const block = refusalBlock(200, status);
    blocks.set(key, block);
    return block;
  };
}
