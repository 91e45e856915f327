import type { Asker } from '../../../core/ports';
import type { GrpcConnection } from '../../../wire/grpc/api';
import type { GrpcMethod } from '../../../wire/grpc/call-plan';

/** A connection as the methods see it. */
export interface Caller {
  readonly grpc: GrpcConnection;
  /** Receives the decisions about this connection's questions; the ticket is the call's. */
  readonly asker: Asker;
  /** When each call was asked, by ticket; negative once its time is counted. */
  readonly askedAtMs: number[];
  /** To be called when something was sent outside of a socket read: it is written at the end of the turn. */
  touch(): void;
}

/** What the gRPC port answers, each by its path. Every ticket is ended exactly once (see GrpcEvents). */
export interface ServedMethod extends GrpcMethod {
  onMessage(caller: Caller, ticket: number, bytes: Uint8Array, start: number, end: number): void;
  onHalfClose(caller: Caller, ticket: number): void;
  onCancel(caller: Caller, ticket: number): void;
}

/** For an event that means nothing to a method. */
export function ignore(): void {
  // Nothing.
}
