import type { CallTracer, Statistics } from '../../core/ports';
import type { ListenAddress } from '../listener';
import type { Health } from './serving';

/** What every gRPC transport is given, whichever engine carries it. */
export interface GrpcTransportDeps {
  readonly health: Health;
  readonly statistics: Statistics;
  /** Monotonic milliseconds, for response times. */
  readonly nowMs: () => number;
  /** Undefined: nothing is traced. */
  readonly tracer?: CallTracer | undefined;
}

/** PEM texts. With `clientCa` a caller must show a certificate that it signed. */
export interface ServerTls {
  readonly certificate: Buffer;
  readonly key: Buffer;
  readonly clientCa: Buffer | undefined;
}

export interface GrpcTransportOptions {
  readonly address: ListenAddress;
  readonly tls?: ServerTls | undefined;
  /** A connection is asked to leave after this long, +/- 10 %; undefined: never. */
  readonly maxConnectionAgeMs?: number | undefined;
  /** How long after that it is cut; undefined: never. */
  readonly maxConnectionAgeGraceMs?: number | undefined;
}
