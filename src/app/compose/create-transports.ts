import { merge } from 'rxjs';
import type { HealthStatus, Snapshot } from '../../../streams';
import type { CallTracer, Random } from '../../core/ports';
import type { HttpLimits } from '../../platform/http-listener';
import { addressText, listenAt } from '../../platform/listen-address';
import type { LogFields, Logger } from '../../platform/logger';
import type { CheckSet } from '../../request-maps/check';
import type { GrpcServerSettings, BoundSettings } from '../../settings/servers';
import type { Settings } from '../../settings/settings';
import type { Registry } from '../../stats/registry';
import type * as GrpcJs from '../../transport/grpc/grpc-js/transport';
import type { GrpcTransportOptions } from '../../transport/grpc/options';
import { createWireTransport } from '../../transport/grpc/wire/transport';
import { createHttpTransport } from '../../transport/http/transport';
import type { NotCounted } from '../observe/health';
import { allOrEveryError, type CallAddresses } from '../process/open-ports';
import { type Certificates, createRefusalLog } from '../tls/certificates';
import { toCheckPolicies } from './decisions';

const loadGrpcJs = () => require('../../transport/grpc/grpc-js/transport') as typeof GrpcJs;

export interface TransportsDeps {
  /** Limits of every port. */
  readonly limits: HttpLimits;
  readonly health: Snapshot<HealthStatus<string>>;
  readonly components: readonly string[];
  readonly notCounted: NotCounted;
  /** How to mend a component that is down; undefined: unknown. */
  readonly advice: (() => ReadonlyMap<string, string>) | undefined;
  readonly checks: Snapshot<CheckSet | undefined>;
  readonly registry: Registry;
  /** Undefined: the gRPC port speaks plain HTTP/2. */
  readonly certificates: Certificates | undefined;
  readonly monotonicMs: () => number;
  readonly random: Random;
  readonly logger: Logger;
  /** Undefined: nothing is traced. */
  readonly tracer: CallTracer | undefined;
}

export function createTransports(settings: Settings, deps: TransportsDeps) {
  const { servers, bounds } = settings;
  const { limits, health, components, registry, certificates, monotonicMs, logger, tracer } = deps;
  const createGrpc =
    servers.grpc.transport === 'wire' ? createWireTransport : loadGrpcJs().createGrpcJsTransport;
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
    {
      health,
      components,
      notCounted: deps.notCounted,
      advice: deps.advice,
      statistics: registry,
      tracer,
      check: settings.check.config === undefined ? undefined : toCheckDeps(settings, deps),
    },
    { ...servers.http, bounds, limits },
  );
  return {
    grpc,
    http,
    requests$: merge(grpc.requests$, http.requests$),
    run$: merge(grpc.run$, http.run$),
    async close(withinMs: number) {
      certificates?.close();
      await Promise.all([grpc.close(withinMs), http.close(withinMs)]);
    },
  };
}

function toCheckDeps({ responseHeaders }: Settings, { checks, logger }: TransportsDeps) {
  return {
    checks,
    policies: toCheckPolicies(responseHeaders),
    warn: (message: string, fields: LogFields) => {
      logger.warn(message, fields);
    },
  };
}

/** The ports for decisions. */
export type Transports = ReturnType<typeof createTransports>;

/** Opens the ports for calls; rejects with every address that cannot be opened. */
export async function listenForCalls({ grpc, http }: Transports): Promise<CallAddresses> {
  const [grpcAt, httpAt] = await allOrEveryError([
    listenAt(grpc, { host: 'GRPC_HOST', port: 'GRPC_PORT', path: 'GRPC_UDS' }),
    listenAt(http, { host: 'HOST', port: 'PORT' }),
  ]);
  return { grpc: addressText(grpcAt), http: addressText(httpAt) };
}

/** The longest delay of a timer in Node. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** The settings of the gRPC port, as options of the transports. */
function toGrpcOptions(
  grpc: GrpcServerSettings,
  certificates: Certificates | undefined,
  bounds: BoundSettings,
): GrpcTransportOptions {
  const { host, port, unixSocket, unixSocketMode, tls, reflection } = grpc;
  return {
    address: unixSocket === undefined ? { host, port } : { path: unixSocket },
    unixSocketMode,
    tls: certificates && {
      ...certificates.first,
      renewals$: certificates.renewals$,
      clientName: tls?.clientName,
    },
    maxConnections: bounds.maxConnections,
    bounds,
    reflection,
    maxConnectionAgeMs: toAge(grpc.maxConnectionAgeMs),
    maxConnectionAgeGraceMs: toAge(grpc.maxConnectionAgeGraceMs),
  };
}

function toAge(ms: number): number | undefined {
  return ms === 0 ? undefined : Math.min(ms, MAX_TIMER_MS);
}
