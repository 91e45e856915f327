import type { HeaderList, Http2Connection, MessageWriter } from '../http2/api';
import type { GrpcStatus } from './status';

/**
 * What the owner of a connection is told, always from inside `receive`, `expire` or `connectionLost`.
 * `M` is the owner's own description of a method.
 */
export interface GrpcEvents<M> {
  /**
   * A message; of a method with one request, the whole request. The octets are valid only during the call.
   * Each ticket that was told must end exactly once by `answer`, `fail` or `finish`, also after `onCancel`.
   */
  onMessage(ticket: number, method: M, bytes: Uint8Array, start: number, end: number): void;
  /** The caller of a method with many requests sends no more. */
  onHalfClose(ticket: number, method: M): void;
  /** Nobody waits for an answer any more: the caller is gone, or its deadline passed. */
  onCancel(ticket: number, method: M): void;
}

/** Makes of the headers of a call what its owner will ask for by `note`. */
export type NoteOf<M> = (method: M, headers: HeaderList) => unknown;

/** gRPC on the server side of one HTTP/2 connection (gRPC over HTTP2), without socket, clock or timer. */
export interface GrpcConnection {
  /** For its owner's care: output, drain, keepalive, end. The streams are not to be touched. */
  readonly http2: Http2Connection<unknown>;
  /** Takes what the socket read. Never throws, whatever comes. With `refuseCalls` new calls get RESOURCE_EXHAUSTED. */
  receive(bytes: Uint8Array, nowMs: number, refuseCalls?: boolean): void;
  /**
   * Hands on messages of methods with many requests: the next one of a stream comes when the answer to the one before has
   * left. Call it when the output is in the kernel; may bring new output.
   */
  readOn(): void;

  /** What `NoteOf` made of the call's headers. */
  note(ticket: number): unknown;
  /** Ends a unary call with its message. `maxBytes` is what `write` uses at most, prefix included. */
  answer<R>(ticket: number, message: R, maxBytes: number, write: MessageWriter<R>): void;
  /** Sends one of several messages. */
  send(ticket: number, message: Uint8Array): void;
  /** Ends a call with status OK. */
  finish(ticket: number): void;
  /** Ends a call with another status. */
  fail(ticket: number, status: GrpcStatus): void;

  /** Ends the calls whose deadline has come; cheap to call often. */
  expire(nowMs: number): void;
  /** Not later than the earliest deadline; Infinity when no call has one. */
  readonly nextDeadlineMs: number;
  /** Bytes that this connection holds for its peer: answers that nobody has taken, and requests not handed on. */
  readonly heldBytes: number;
  /** Tickets that have not ended. */
  readonly openCalls: number;
}
