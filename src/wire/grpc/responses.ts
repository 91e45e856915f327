import { putUint32 } from '../bytes';
import type { MessageEncoder, UnaryBlocks, Http2Stream } from '../http2/api';
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

interface Rejection {
  readonly block: Uint8Array;
  readonly deadlineMs: number;
}

/**
 * Responses to requests that are not gRPC calls at all. They wait for the end of their request, as an HTTP server's do, so
 * that a malformed rest of it is still reported (RFC 9113 §8.1.1).
 * Add them in the order of their deadlines: all requests have the same time.
 */
export class DeferredRejections {
  readonly #waiting = new Map<Http2Stream, Rejection>();
  readonly #send: (stream: Http2Stream, block: Uint8Array) => void;

  constructor(send: (stream: Http2Stream, block: Uint8Array) => void) {
    this.#send = send;
  }

  add(stream: Http2Stream, block: Uint8Array, deadlineMs: number): void {
    this.#waiting.set(stream, { block, deadlineMs });
  }

  /** The request is complete: sends its response. No effect for another stream. */
  complete(stream: Http2Stream): void {
    const rejection = this.#waiting.get(stream);
    if (rejection === undefined) return;
    this.#waiting.delete(stream);
    this.#send(stream, rejection.block);
  }

  forget(stream: Http2Stream): void {
    this.#waiting.delete(stream);
  }

  /** Sends those whose time is over. */
  expire(nowMs: number): void {
    for (const [stream, { deadlineMs }] of this.#waiting) {
      if (deadlineMs > nowMs) return;
      this.complete(stream);
    }
  }

  /** Infinity if none waits. */
  get nextDeadlineMs(): number {
    // Runs after every read, where an iterator would be the largest cost.
    if (this.#waiting.size === 0) return Infinity;
    return this.#waiting.values().next().value?.deadlineMs ?? Infinity;
  }
}
