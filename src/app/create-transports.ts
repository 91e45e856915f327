import { merge, type Observable } from 'rxjs';
import type { HealthStatus, Snapshot } from '../../streams';
import type { CallTracer, PendingRequest, Random } from '../core/ports';
import type { HttpLimits } from '../platform/http-listener';
import { addressText, listenAt } from '../platform/listen-address';
import type { Logger } from '../platform/logger/logger';
import type { Settings } from '../settings/settings';
import type { Registry } from '../stats/registry';
import { createWireTransport } from '../transport/grpc/wire/transport';
import { createHttpTransport } from '../transport/http/transport';
import type { Transport } from '../transport/listener';
import { lazy } from './lazy';
import type { NotCounted } from './not-counted';
import { allOrEveryError, type CallAddresses } from './open-ports';
import type { Certificates } from './tls/create-certificates';
import { createRefusalLog } from './tls/create-refusal-log';
import { toGrpcOptions } from './to-options';

export interface TransportsDeps {
  /** Of every port. */
  readonly limits: HttpLimits;
  readonly health: Snapshot<HealthStatus<string>>;
  /** The names of all health components. */
  readonly components: readonly string[];
  readonly notCounted: NotCounted;
  readonly registry: Registry;
  /** Undefined: the gRPC port speaks plain HTTP/2. */
  readonly certificates: Certificates | undefined;
  readonly monotonicMs: () => number;
  readonly random: Random;
  readonly logger: Logger;
  /** Undefined: nothing is traced. */
  readonly tracer: CallTracer | undefined;
}

/** The ports on which decisions are asked for. */
export interface Transports {
  readonly grpc: Transport;
  readonly http: Transport;
  readonly requests$: Observable<readonly PendingRequest[]>;
  readonly run$: Observable<void>;
  close(withinMs: number): Promise<void>;
}

export function createTransports({ servers, bounds }: Settings, deps: TransportsDeps): Transports {
  const { limits, health, components, registry, certificates, monotonicMs, logger, tracer } = deps;
  const createGrpc =
    servers.grpc.transport === 'wire' ? createWireTransport : lazy.grpcJs().createGrpcJsTransport;
  const grpc = createGrpc(
    {
      health,
      statistics: registry,
      nowMs: monotonicMs,
      random: deps.random,
      onClientRefused: createRefusalLog({ statistics: registry, logger, monotonicMs }),
      tracer,
      budget: limits.budget,
      onConnectionFailure: ({ reason, cause }) => {
        logger.debug('a gRPC connection ended in an error', { reason, cause });
      },
    },
    toGrpcOptions(servers.grpc, certificates, bounds),
  );
  const http = createHttpTransport(
    { health, components, notCounted: deps.notCounted, statistics: registry, tracer },
    { ...servers.http, bounds, limits },
  );
  return {
    grpc,
    http,
    requests$: merge(grpc.requests$, http.requests$),
    run$: merge(grpc.run$, http.run$),
    async close(withinMs) {
      certificates?.close();
      await Promise.all([grpc.close(withinMs), http.close(withinMs)]);
    },
  };
}

/** Opens the ports of calls; rejects with every address that cannot be opened. */
export async function listenForCalls({ grpc, http }: Transports): Promise<CallAddresses> {
  const [grpcAt, httpAt] = await allOrEveryError([
    listenAt(grpc, { host: 'GRPC_HOST', port: 'GRPC_PORT', path: 'GRPC_UDS' }),
    listenAt(http, { host: 'HOST', port: 'PORT' }),
  ]);
  return { grpc: addressText(grpcAt), http: addressText(httpAt) };
}
