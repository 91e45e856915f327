import { StatusCode, grpcStatus, type GrpcStatus } from './status';

/** Bytes of the flag and the length before each message. */
export const PREFIX_BYTES = 5;
/**
 * Bytes of unfinished messages held on one connection, or two of the longest messages if that is more. Stops clients that
 * leave an almost complete message on each of their streams.
 */
export const MAX_BUFFERED_BYTES = 8 * 1024 * 1024;

/** The bytes that a connection may still buffer. */
export interface BufferBudget {
  leftBytes: number;
}

/** The part of a request that has arrived and was not emitted: `bytes[from, from + length)`. */
export interface Body {
  bytes: Uint8Array;
  from: number;
  length: number;
}

export function createBody(): Body {
  return { bytes: new Uint8Array(0), from: 0, length: 0 };
}

/** Whether `bytes[start, end)` is exactly one plain message: the usual request. */
export function isOneMessage(bytes: Uint8Array, start: number, end: number): boolean {
  return (
    end - start >= PREFIX_BYTES &&
    bytes[start] === 0 &&
    messageLength(bytes, start) === end - start - PREFIX_BYTES
  );
}

/** The length of the message whose prefix begins at `at`. */
export function messageLength(bytes: Uint8Array, at: number): number {
  const high = (bytes[at + 1] as number) * 0x100_0000;
  return (
    high +
    (((bytes[at + 2] as number) << 16) |
      ((bytes[at + 3] as number) << 8) |
      (bytes[at + 4] as number))
  );
}

/** Appends `bytes[from, end)` to the body. Undefined if the budget allows it. */
export function buffer(
  body: Body,
  budget: BufferBudget,
  bytes: Uint8Array,
  from: number,
  end: number,
): GrpcStatus | undefined {
  const length = body.length + end - from;
  if (2 * length <= body.bytes.length) {
    if (body.from + length > body.bytes.length) moveToFront(body, body.bytes);
  } else if (body.from + length > body.bytes.length) {
    // Grows with the bytes received, never with the length in a prefix.
    const grown = Math.max(length, 2 * body.bytes.length);
    const more = grown - body.bytes.length;
    if (more > budget.leftBytes) return BUFFER_FULL;
    budget.leftBytes -= more;
    moveToFront(body, new Uint8Array(grown));
  }
  body.bytes.set(bytes.subarray(from, end), body.from + body.length);
  body.length = length;
  return undefined;
}

/** Returns the memory of a body to the budget. */
export function release(body: Body, budget: BufferBudget): void {
  budget.leftBytes += body.bytes.length;
  body.bytes = new Uint8Array(0);
  body.from = 0;
  body.length = 0;
}

/** Cuts `count` bytes off the front without a copy: `buffer` moves the rest once at least half of the memory is free. */
export function dropFront(body: Body, count: number): void {
  body.from += count;
  body.length -= count;
}

function moveToFront(body: Body, bytes: Uint8Array): void {
  bytes.set(body.bytes.subarray(body.from, body.from + body.length));
  body.bytes = bytes;
  body.from = 0;
}

/** Why the prefix at the front of a body is invalid; undefined if it is valid or incomplete. */
export function prefixFault(body: Body, maxBytes: number): GrpcStatus | undefined {
  if (body.length < PREFIX_BYTES) return undefined;
  const flag = body.bytes[body.from] as number;
  if (flag > 1) {
    return grpcStatus(StatusCode.internal, `message flag ${String(flag)} is neither 0 nor 1`);
  }
  const length = messageLength(body.bytes, body.from);
  return length > maxBytes ? tooLarge(length, maxBytes) : undefined;
}

export function tooLarge(length: number, maxBytes: number): GrpcStatus {
  const message = `received message larger than max (${String(length)} vs. ${String(maxBytes)})`;
  return grpcStatus(StatusCode.resourceExhausted, message);
}

const BUFFER_FULL = grpcStatus(
  StatusCode.resourceExhausted,
  'too many unfinished messages on this connection',
);
