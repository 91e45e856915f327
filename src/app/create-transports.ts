import { merge, type Observable } from 'rxjs';
import type { HealthStatus, Snapshot } from '../../streams';
import type { CallTracer, Clock, PendingRequest, Random } from '../core/ports';
import { dumpRules } from '../core/rules/dump';
import type { Rules } from '../core/rules/rules';
import { ByteBudget } from '../platform/byte-budget';
import type { HttpLimits } from '../platform/http-listener';
import { addressText, listenAt } from '../platform/listen-address';
import type { Logger } from '../platform/logger/logger';
import type { BoundSettings } from '../settings/bounds';
import type { Settings } from '../settings/settings';
import { dumpJsonInSlices, dumpTextInSlices } from '../stats/dump';
import type { Registry } from '../stats/registry';
import type { EventSource } from '../transport/debug/event-stream';
import { createDebugListener } from '../transport/debug/listener';
import type { WorkerProfiles } from '../transport/debug/profile-endpoint';
import { createWireTransport } from '../transport/grpc/wire/transport';
import { createHttpTransport } from '../transport/http/transport';
import type { Listener, Transport } from '../transport/listener';
import type { RulesActor } from './actors/rules';
import type { Admin } from './admin/create-admin';
import { late } from './late';
import type { Certificates } from './tls/create-certificates';
import { createRefusalLog } from './tls/create-refusal-log';
import { toGrpcOptions } from './to-options';

/** What the connections of all ports may hold. Connections that are ended for it are counted. */
export function createConnectionLimits(
  { maxHeldBytes, maxConnections }: BoundSettings,
  registry: Registry,
): HttpLimits {
  const budget = new ByteBudget(maxHeldBytes, () => {
    registry.count('ratelimit.connections.ended_unread', 1);
  });
  return { budget, maxConnections };
}

export interface TransportsDeps {
  /** Of every port. */
  readonly limits: HttpLimits;
  readonly health: Snapshot<HealthStatus<string>>;
  /** The names of all health components. */
  readonly components: readonly string[];
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
    servers.grpc.transport === 'wire' ? createWireTransport : late.grpcJs().createGrpcJsTransport;
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
    { health, components, statistics: registry, tracer },
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

export interface DebugPortDeps {
  readonly limits: HttpLimits;
  readonly rules: Snapshot<Rules | undefined>;
  readonly registry: Registry;
  /** The events of the dashboard. */
  readonly live: EventSource;
  readonly clock: Clock;
  readonly rulesVersion: RulesActor['version'];
  readonly admin: Admin;
  readonly workerProfiles: WorkerProfiles | undefined;
}

export function createDebugPort(
  { servers, bounds, admin: settings }: Settings,
  { limits, rules, registry, live, clock, rulesVersion, admin, workerProfiles }: DebugPortDeps,
): Listener {
  return createDebugListener(
    {
      dumpRules: () => (rules.current === undefined ? '' : dumpRules(rules.current).join('\n')),
      dumpStats: () => dumpTextInSlices(registry),
      dumpStatsJson: () => dumpJsonInSlices(registry),
      live,
      clock,
      workerProfiles,
      rulesVersion: () => rulesVersion()?.version,
      admin: admin.router,
      checkToken: admin.checkToken,
    },
    {
      ...servers.debug,
      limits,
      allowedHosts: bounds.debugAllowedHosts ?? [],
      adminHosts: settings.hosts,
      protectAll: settings.protectAll,
    },
  );
}

/** Where calls are taken, as `host:port` or `unix:path`. */
export interface CallAddresses {
  readonly grpc: string;
  readonly http: string;
}

/** Where the service listens. */
export interface Addresses extends CallAddresses {
  readonly debug: string;
}

/** Opens the ports of calls; rejects with every address that cannot be opened. */
export async function listenForCalls({ grpc, http }: Transports): Promise<CallAddresses> {
  const [grpcAt, httpAt] = await allOrEveryError([
    listenAt(grpc, { host: 'GRPC_HOST', port: 'GRPC_PORT', path: 'GRPC_UDS' }),
    listenAt(http, { host: 'HOST', port: 'PORT' }),
  ]);
  return { grpc: addressText(grpcAt), http: addressText(httpAt) };
}

/** Opens all ports; rejects with every address that cannot be opened. */
export async function listenAll(
  calls: { readonly listen: () => Promise<CallAddresses> },
  debug: Listener,
): Promise<Addresses> {
  const [addresses, debugAt] = await allOrEveryError([
    calls.listen(),
    listenAt(debug, { host: 'DEBUG_HOST', port: 'DEBUG_PORT' }),
  ]);
  return { ...addresses, debug: addressText(debugAt) };
}

/** Settles when all have; where some failed, with an AggregateError of all of them. */
async function allOrEveryError<A, B>(
  both: readonly [Promise<A>, Promise<B>],
): Promise<readonly [A, B]> {
  const errors = (await Promise.allSettled(both)).flatMap((result) =>
    result.status === 'rejected' ? [result.reason as unknown] : [],
  );
  if (errors.length > 0) throw new AggregateError(errors);
  return Promise.all(both);
}
