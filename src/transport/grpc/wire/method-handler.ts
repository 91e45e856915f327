import type { Responder } from '../../../core/ports';
import type { GrpcConnection } from '../../../wire/grpc/api';
import type { GrpcMethod } from '../../../wire/grpc/call-plan';

/** A connection as method handlers see it. */
export interface Client {
  readonly grpc: GrpcConnection;
  /** Receives the decisions about this connection's requests; the call id is the call's. */
  readonly responder: Responder;
  /** When each call arrived, by call id. */
  readonly askedAtMs: number[];
  /** Calls that were cancelled before their deadline, until they end. */
  readonly left: Set<number>;
  /** Call it after sending outside of a socket read: the output is written at the end of the turn. */
  scheduleFlush(): void;
}

/** Handles the calls of one path. Ends every call id exactly once (see GrpcEvents). */
export interface MethodHandler extends GrpcMethod {
  onMessage(client: Client, callId: number, bytes: Uint8Array, start: number, end: number): void;
  onHalfClose(client: Client, callId: number): void;
  onCancel(client: Client, callId: number): void;
}

/** For an event that has no meaning for a method. */
export function ignore(): void {
  // Nothing.
}
