import type { HeaderList, Http2Connection, MessageEncoder } from '../http2/api';
import type { HeaderReader } from '../http2/hpack/header-reader';
import type { UnpackBounds } from '../unpacked-limit';
import type { Inflate } from './inflate';
import type { GrpcStatus } from './status';

/**
 * Handles the calls of one path, always from inside `receive`, `readOn`, `expire` or `connectionLost`. `C` is the owner's own
 * description of a connection. End every call id exactly once with `answer`, `fail` or `finish`, even after `onCancel`.
 */
export interface GrpcMethod<C> {
  /** `one`: exactly one message, emitted when the request is complete. `many`: each as it arrives. */
  readonly requests: 'one' | 'many';
  /** A message; of a method with one request, the whole request. The bytes are valid only during the call. */
  onMessage(client: C, callId: number, bytes: Uint8Array, start: number, end: number): void;
  /** The client of a method with many requests has sent its last one. */
  onHalfClose(client: C, callId: number): void;
  /** The response is not needed any more: the client is gone, or its deadline passed. */
  onCancel(client: C, callId: number): void;
}

/** Creates what the owner needs from a call's headers, for `callContext`. */
export type CreateCallContext<C> = (method: GrpcMethod<C>, headers: HeaderList) => unknown;

/** What a connection is created with. */
export interface GrpcDeps<C> {
  /** By path, `/package.Service/Method`. */
  readonly methods: ReadonlyMap<string, GrpcMethod<C>>;
  /** This connection, for its methods. */
  readonly client: C;
  readonly inflate: Inflate;
  /** MAX_GRPC_MESSAGE_BYTES and MAX_UNPACK_RATIO. */
  readonly bounds: UnpackBounds;
  /** `createRejectionBlocks()`, one for all connections. */
  readonly rejectionBlock: (status: GrpcStatus) => Uint8Array;
  /** Undefined: the headers are not needed. */
  readonly createCallContext?: CreateCallContext<C> | undefined;
  /** One for all connections with these methods, of `readNamesWith`; by default one per connection. */
  readonly headerReader?: HeaderReader | undefined;
}

/** gRPC on the server side of one HTTP/2 connection (gRPC over HTTP2), without socket, clock or timer. */
export interface GrpcConnection {
  /** For output, drain, keepalive and end of the connection. Leave its streams alone. */
  readonly http2: Http2Connection;
  /** Takes the bytes of a socket read. Never throws, whatever they are. With `refuseCalls` new calls get RESOURCE_EXHAUSTED. */
  receive(bytes: Uint8Array, nowMs: number, refuseCalls?: boolean): void;
  /**
   * Emits pending messages of methods with many requests: the next message of a stream comes when the response to the previous one
   * has left. Call it when the kernel has the output; may create new output.
   */
  readOn(): void;

  /** The result of `CreateCallContext` for the call. */
  callContext(callId: number): unknown;
  /** The `grpc-timeout` of a call that has not ended, in milliseconds; Infinity without. */
  timeoutMs(callId: number): number;
  /** Ends a unary call with its message; false where the response is not needed any more. */
  answer<R>(callId: number, message: R, encoder: MessageEncoder<R>): boolean;
  /** Sends one of several messages. */
  send(callId: number, message: Uint8Array): void;
  /** Ends a call with status OK. */
  finish(callId: number): void;
  /** Ends a call with another status; false as for `answer`. */
  fail(callId: number, status: GrpcStatus): boolean;

  /** Ends the calls whose deadline has passed; cheap to call often. */
  expire(nowMs: number): void;
  /** Not later than the earliest deadline; Infinity if no call has one. */
  readonly nextDeadlineMs: number;
  /** Bytes held for the peer: unsent responses and incomplete requests. A sum of counters, cheap to read. */
  readonly heldBytes: number;
  /** Call ids that have not ended. */
  readonly openCalls: number;
}
