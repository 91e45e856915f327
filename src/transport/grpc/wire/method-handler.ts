import type { Asker } from '../../../core/ports';
import type { GrpcConnection } from '../../../wire/grpc/api';
import type { GrpcMethod } from '../../../wire/grpc/call-plan';

/** A connection as method handlers see it. */
export interface Client {
  readonly grpc: GrpcConnection;
  /** Receives the decisions about this connection's questions; the ticket is the call's. */
  readonly asker: Asker;
  /** When each call was asked, by ticket; negative once its time is counted. */
  readonly askedAtMs: number[];
  /** Call it after sending outside of a socket read: the output is written at the end of the turn. */
  scheduleFlush(): void;
}

/** Handles the calls of one path. Ends every ticket exactly once (see GrpcEvents). */
export interface MethodHandler extends GrpcMethod {
  onMessage(client: Client, ticket: number, bytes: Uint8Array, start: number, end: number): void;
  onHalfClose(client: Client, ticket: number): void;
  onCancel(client: Client, ticket: number): void;
}

/** For an event that means nothing to a method. */
export function ignore(): void {
  // Nothing.
}
