import type { Observable } from 'rxjs';
import type { CallTracer, Statistics } from '../../core/ports';
import type { ByteBudget } from '../../platform/byte-budget';
import type { ListenAddress } from '../../platform/listen-address';
import type { TransportBounds } from '../bounds';
import type { Health } from './service';

/** Dependencies of every gRPC transport, with either engine. */
export interface GrpcTransportDeps {
  readonly health: Health;
  readonly statistics: Statistics;
  /** Monotonic milliseconds, for response times. */
  readonly nowMs: () => number;
  /** Called for every client whose handshake failed or that lacked the required certificate. */
  readonly onClientRefused?: ((refusal: ClientRefusal) => void) | undefined;
  /** Undefined: nothing is traced. */
  readonly tracer?: CallTracer | undefined;
  /** Bytes that all connections of the process may hold; undefined: no limit. */
  readonly budget?: ByteBudget | undefined;
}

export interface ClientRefusal {
  /** The client's address, if it is still known. */
  readonly peer: string | undefined;
  readonly reason: string;
}

/** PEM strings. With `clientCa` a client must present a certificate that it signed. */
export interface TlsPems {
  readonly certificate: Buffer;
  readonly key: Buffer;
  readonly clientCa: Buffer | undefined;
}

export interface ServerTls extends TlsPems {
  /** A name that the client's certificate must contain; for use with `clientCa`. */
  readonly clientName?: string | undefined;
  /** Certificates for new connections from then on; must be valid, and have a `clientCa` if this has one. */
  readonly renewals$?: Observable<TlsPems> | undefined;
}

export interface GrpcTransportOptions {
  /** Default: DEFAULT_BOUNDS. */
  readonly bounds?: TransportBounds | undefined;
  readonly address: ListenAddress;
  /** File mode of a Unix socket; default 0666. */
  readonly unixSocketMode?: number | undefined;
  readonly tls?: ServerTls | undefined;
  /** A connection is asked to leave at this age, +/- 10 %; undefined: never. */
  readonly maxConnectionAgeMs?: number | undefined;
  /** How long after that it is closed; undefined: never. */
  readonly maxConnectionAgeGraceMs?: number | undefined;
  /** Concurrent connections; further ones are closed as soon as they are accepted. Default 10,000. */
  readonly maxConnections?: number | undefined;
  /** False: the reflection services are not registered. Default true. */
  readonly reflection?: boolean | undefined;
}
