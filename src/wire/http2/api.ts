/**
 * The server side of one HTTP/2 connection (RFC 9113) as its owner sees it. No socket, no timer: the owner
 * brings bytes and the time, and writes what `takeOutput` gives. Types only; `createHttp2Connection` is in
 * connection.ts, `encodeStatelessBlock` in hpack/encoder.ts, the error codes in error-codes.ts.
 */
import type { HeaderList } from './hpack/header-list';
import type { HeaderReader } from './hpack/header-reader';

export type { HeaderList } from './hpack/header-list';

/** One request and its answer. Never reused: a call with a stream that is closed does nothing. */
export interface Http2Stream<S> {
  readonly id: number;
  /** True from END_STREAM of both sides or the reset of one on; nothing can be sent any more. */
  readonly closed: boolean;
  /** The owner's own state. */
  user: S | undefined;
}

/**
 * What the owner of a connection is told. All calls happen inside `receive`, `tick`, `goAway` or `connectionLost`.
 * Once a stream's answer has been handed over to its end, only `onReset` can still come.
 */
export interface Http2Events<S> {
  /** A request's header list is complete and valid. May be answered at once. */
  onRequest(stream: Http2Stream<S>, headers: HeaderList, endStream: boolean): void;
  /** Body octets `bytes[start, end)`, valid only during the call. May be empty with `endStream`. */
  onData(
    stream: Http2Stream<S>,
    bytes: Uint8Array,
    start: number,
    end: number,
    endStream: boolean,
  ): void;
  /** The request's trailers; the request is complete. */
  onTrailers(stream: Http2Stream<S>, headers: HeaderList): void;
  /** The stream is gone before we finished it: reset by the peer, by an error, or with its connection. */
  onReset(stream: Http2Stream<S>, errorCode: number): void;
  /** The peer answered `ping(opaque)`. */
  onPingAck?(opaque: number): void;
}

/** Writes `message` into `out` from `at` on and returns the end; it may use at most `maxBytes`. */
export type MessageWriter<M> = (message: M, out: Uint8Array, at: number) => number;

/** Why the connection ended, for the log and the statistics. */
export interface Http2Failure {
  /** The GOAWAY error code, see error-codes.ts. */
  readonly errorCode: number;
  /** A lowercase sentence; also the debug data of the GOAWAY. Holds nothing that the peer sent but numbers. */
  readonly reason: string;
  /** The budget that was broken (a name of budgets.ts), if it was one. */
  readonly budget: string | undefined;
  /** An exception out of the owner's events (or a bug of ours); the connection ended with INTERNAL_ERROR. */
  readonly cause: unknown;
}

export interface Http2Options {
  /** Streams at once; enforced (REFUSED_STREAM) once the peer acknowledged our SETTINGS. Default 1024. */
  readonly maxConcurrentStreams: number;
  /** Octets of body in flight per stream. Default 262,144. */
  readonly streamWindowBytes: number;
  /** Octets of body in flight per connection, at least 65,535. Default 1,048,576. */
  readonly connectionWindowBytes: number;
  /** Octets of a decoded header list, 32 more per field (RFC 9113 §6.5.2). Default 16,384. */
  readonly maxHeaderListBytes: number;
  /** Octets of the HPACK dynamic table that the peer may use. Default 4,096. */
  readonly headerTableBytes: number;
  /** False switches the header-block cache off (for tests). Default true. */
  readonly cacheHeaderBlocks: boolean;
  /** What the owner reads of header lists, shared by its connections. Undefined (the default): all, alone. */
  readonly headerReader: HeaderReader | undefined;
}

export interface Http2Connection<S> {
  /** Takes what the socket read; keeps no reference to `bytes`. Never throws, whatever comes. */
  receive(bytes: Uint8Array, nowMs: number): void;
  /** To be called each second or so: ends what the peer holds up, and lets unused memory go. */
  tick(nowMs: number): void;

  /** HEADERS. `block` comes from `encodeStatelessBlock`. Queued behind body octets that wait for a window. */
  sendHeaders(stream: Http2Stream<S>, block: Uint8Array, endStream: boolean): void;
  /** DATA. What the windows do not allow yet is copied and queued. */
  sendData(stream: Http2Stream<S>, bytes: Uint8Array, endStream: boolean): void;
  /** A whole unary answer: HEADERS, DATA, trailing HEADERS with END_STREAM. */
  sendUnary(
    stream: Http2Stream<S>,
    headersBlock: Uint8Array,
    data: Uint8Array,
    trailersBlock: Uint8Array,
  ): void;
  /** The same, the DATA's octets being written straight into the output. The fast path. */
  sendUnaryMessage<M>(
    stream: Http2Stream<S>,
    headersBlock: Uint8Array,
    message: M,
    maxBytes: number,
    write: MessageWriter<M>,
    trailersBlock: Uint8Array,
  ): void;
  /** RST_STREAM. The owner asked for it, so `onReset` is not called. */
  reset(stream: Http2Stream<S>, errorCode: number): void;
  /** Octets of this stream that wait for the peer's window. */
  queuedBytes(stream: Http2Stream<S>): number;

  /** PING with an opaque number (unsigned, 32 bits); `onPingAck` follows. */
  ping(opaque: number): void;
  /** GOAWAY with the last stream's id and the end of the connection; open streams get `onReset`. */
  goAway(errorCode: number, reason: string): void;
  /** Graceful: GOAWAY 2^31-1 and a PING; its answer (or the owner's `finishDrain`) sends the last id. */
  startDrain(reason: string): void;
  /** GOAWAY with the last id: later streams are ignored, and `wantsClose` once the open ones are done. */
  finishDrain(): void;
  /** The socket is gone: every open stream gets `onReset` with CANCEL; nothing is sent any more. */
  connectionLost(): void;

  /** What is to be written now in one piece, or undefined. Valid until given to `releaseOutput` (if ever). */
  takeOutput(): Uint8Array | undefined;
  /** Optional: this piece is in the kernel, its memory may be used again. */
  releaseOutput(piece: Uint8Array): void;

  /** Octets that `takeOutput` would give. */
  readonly pendingOutputBytes: number;
  /** Octets of answers that wait for the peer's windows, over all streams. */
  readonly queuedAnswerBytes: number;
  /** Once the output is written, end the socket (FIN; read on and discard, so that no RST overtakes it). */
  readonly wantsClose: boolean;
  /** Why, when it was an error. */
  readonly failure: Http2Failure | undefined;
  readonly openStreams: number;
  /** No open stream and nothing to write. */
  readonly isIdle: boolean;
  /** The client's preface and SETTINGS have arrived; the owner times it. */
  readonly prefaceReceived: boolean;
  /** The peer acknowledged our SETTINGS; the owner times it (SETTINGS_TIMEOUT). */
  readonly settingsAcked: boolean;
  /** `startDrain` was called. */
  readonly draining: boolean;
  /** The peer sent GOAWAY: it opens no streams any more. */
  readonly peerLeaving: boolean;
  /** Requests accepted since the start. */
  readonly requestCount: number;
}
