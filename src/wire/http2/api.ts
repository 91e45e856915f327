/**
 * The server side of one HTTP/2 connection (RFC 9113) as its owner sees it. No socket, no timer: the owner
 * brings bytes and the time, and writes what `takeOutput` returns. Types only; `createHttp2Connection` is in
 * connection.ts, `encodeStatelessBlock` in hpack/encoder.ts, the error codes in frames.ts.
 */
import type { HeaderList } from './hpack/header-list';
import type { HeaderReader } from './hpack/header-reader';

export type { HeaderList } from './hpack/header-list';

/** One request and its response. Never reused: a call with a closed stream does nothing. */
export interface Http2Stream {
  readonly id: number;
  /** True after END_STREAM of both sides or a reset by one; nothing can be sent any more. */
  readonly closed: boolean;
  /** The owner's own state. */
  user: unknown;
}

/**
 * Events of a connection. All calls happen inside `receive`, `tick`, `goAway` or `connectionLost`.
 * After the owner has sent the end of a stream's response, only `onReset` can still come for it.
 */
export interface Http2Events {
  /** A request's header list is complete and valid. The owner may respond at once. */
  onRequest(stream: Http2Stream, headers: HeaderList, endStream: boolean): void;
  /** Body bytes `bytes[start, end)`, valid only during the call. May be empty with `endStream`. */
  onData(
    stream: Http2Stream,
    bytes: Uint8Array,
    start: number,
    end: number,
    endStream: boolean,
  ): void;
  /** The request's trailers; the request is complete. */
  onTrailers(stream: Http2Stream, headers: HeaderList): void;
  /** The stream is gone before we finished it: reset by the peer, by an error, or with its connection. */
  onReset(stream: Http2Stream, errorCode: number): void;
  /** The peer answered `ping(opaque)`. */
  onPingAck?(opaque: number): void;
}

/** The header blocks around the message of a unary response. */
export interface UnaryBlocks {
  readonly headers: Uint8Array;
  readonly trailers: Uint8Array;
}

/** Encodes messages of one type into memory that is already there. */
export interface MessageEncoder<M> {
  /** The most bytes that `write` uses for `message`. */
  readonly maxBytes: (message: M) => number;
  /** Writes `message` into `out` from `at` on and returns the end. */
  readonly write: (message: M, out: Uint8Array, at: number) => number;
}

/** Why the connection ended, for the log and the statistics. */
export interface Http2Failure {
  /** The GOAWAY error code, see frames.ts. */
  readonly errorCode: number;
  /** A lowercase sentence; also the debug data of the GOAWAY. Of what the peer sent it holds numbers only. */
  readonly reason: string;
  /** The budget that was exceeded (a name of budgets.ts), if any. */
  readonly budget: string | undefined;
  /** The exception of an event handler (or a bug of ours) that ended the connection with INTERNAL_ERROR. */
  readonly cause: unknown;
}

export interface Http2Options {
  /** Concurrent streams; enforced (REFUSED_STREAM) once the peer acknowledged our SETTINGS. Default 1024. */
  readonly maxConcurrentStreams: number;
  /** Bytes of body in flight per stream. Default 262,144. */
  readonly streamWindowBytes: number;
  /** Bytes of body in flight per connection, at least 65,535. Default 1,048,576. */
  readonly connectionWindowBytes: number;
  /** Bytes of a decoded header list, plus 32 per field (RFC 9113 §6.5.2). Default 16,384. */
  readonly maxHeaderListBytes: number;
  /** Bytes of the HPACK dynamic table that the peer may use. Default 4,096. */
  readonly headerTableBytes: number;
  /** False switches the header-block cache off (for tests). Default true. */
  readonly cacheHeaderBlocks: boolean;
  /** Decoding state and wanted fields, shared by the owner's connections. Undefined (the default): all fields, not shared. */
  readonly headerReader: HeaderReader | undefined;
}

export interface Http2Connection {
  /** Takes what the socket read; keeps no reference to `bytes`. Never throws, even on invalid bytes. */
  receive(bytes: Uint8Array, nowMs: number): void;
  /** Call about once a second: resets stalled streams and frees idle buffers. */
  tick(nowMs: number): void;

  /** HEADERS. `block` comes from `encodeStatelessBlock`. Queued after body bytes that wait for a window. */
  sendHeaders(stream: Http2Stream, block: Uint8Array, endStream: boolean): void;
  /** DATA. Bytes beyond the windows are copied and queued. */
  sendData(stream: Http2Stream, bytes: Uint8Array, endStream: boolean): void;
  /** A whole unary response: HEADERS, DATA, trailing HEADERS with END_STREAM. The fast path. */
  sendUnary<M>(
    stream: Http2Stream,
    blocks: UnaryBlocks,
    message: M,
    encoder: MessageEncoder<M>,
  ): void;
  /** RST_STREAM. Does not call `onReset`. */
  reset(stream: Http2Stream, errorCode: number): void;
  /** Bytes of this stream that wait for the peer's window. */
  queuedBytes(stream: Http2Stream): number;

  /** PING with an opaque number (unsigned, 32 bits); `onPingAck` follows. */
  ping(opaque: number): void;
  /** GOAWAY with the last stream's id and the end of the connection; open streams get `onReset`. */
  goAway(errorCode: number, reason: string): void;
  /** Graceful: GOAWAY 2^31-1 and a PING; its answer (or the owner's `finishDrain`) sends the last id. */
  startDrain(reason: string): void;
  /** GOAWAY with the last id: later streams are ignored; `wantsClose` turns true once the open ones are done. */
  finishDrain(): void;
  /** The socket is gone: every open stream gets `onReset` with CANCEL; nothing is sent any more. */
  connectionLost(): void;

  /** All pending output in one piece, or undefined. Valid until given to `releaseOutput` (if ever). */
  takeOutput(): Uint8Array | undefined;
  /** Optional: the kernel has this piece, its memory may be reused. */
  releaseOutput(piece: Uint8Array): void;

  /** Bytes that `takeOutput` would return. */
  readonly pendingOutputBytes: number;
  /** Bytes of responses that wait for the peer's windows, over all streams. */
  readonly queuedResponseBytes: number;
  /** End the socket once the output is written (FIN; read on and discard, so that no RST overtakes it). */
  readonly wantsClose: boolean;
  /** The error that ended the connection, if one did. */
  readonly failure: Http2Failure | undefined;
  readonly openStreams: number;
  /** No open stream and nothing to write. */
  readonly isIdle: boolean;
  /** The client's preface and SETTINGS have arrived; the owner limits the time for it. */
  readonly prefaceReceived: boolean;
  /** The peer acknowledged our SETTINGS; the owner limits the time for it (SETTINGS_TIMEOUT). */
  readonly settingsAcked: boolean;
  /** `startDrain` was called. */
  readonly draining: boolean;
  /** The peer sent GOAWAY: it opens no more streams. */
  readonly peerLeaving: boolean;
  /** Requests accepted since the start. */
  readonly requestCount: number;
}
