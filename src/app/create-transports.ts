import { merge, type Observable } from 'rxjs';
import type { HealthStatus, Snapshot } from '../../streams';
import type { CallTracer, Clock, Question, Random } from '../core/ports';
import { dumpRules } from '../core/rules/dump';
import type { Rules } from '../core/rules/rules';
import type { HttpLimits } from '../platform/http-listener';
import { listenAt, type ListenAddress } from '../platform/listen-address';
import type { Logger } from '../platform/logger/logger';
import type { GrpcServerSettings } from '../settings/servers';
import type { Settings } from '../settings/settings';
import { dumpJsonInSlices, dumpTextInSlices } from '../stats/dump-in-slices';
import type { Registry } from '../stats/registry';
import type { EventSource } from '../transport/debug/event-stream';
import { createDebugListener } from '../transport/debug/listener';
import type * as GrpcJs from '../transport/grpc/grpc-js/transport';
import type { GrpcTransportOptions } from '../transport/grpc/options';
import { createWireTransport, type WireTransportDeps } from '../transport/grpc/wire/transport';
import { createHttpTransport } from '../transport/http/transport';
import type { Transport } from '../transport/listener';
import { toGrpcOptions } from './grpc-options';
import { createCertificates } from './tls/create-certificates';
import { createRefusalLog } from './tls/create-refusal-log';

export interface TransportsDeps {
  /** Of every port. */
  readonly limits: HttpLimits;
  readonly health: Snapshot<HealthStatus<string>>;
  /** The names of all health components. */
  readonly components: readonly string[];
  readonly rules: Snapshot<Rules | undefined>;
  readonly registry: Registry;
  /** What the dashboard is told. */
  readonly live: EventSource;
  readonly clock: Clock;
  readonly monotonicMs: () => number;
  readonly random: Random;
  readonly logger: Logger;
  /** Undefined: nothing is traced. */
  readonly tracer: CallTracer | undefined;
}

/** All that listens, as one. */
export interface Transports {
  readonly questions$: Observable<readonly Question[]>;
  readonly run$: Observable<void>;
  /** The addresses of gRPC, HTTP and debug, in this order. */
  listen(): Promise<readonly [ListenAddress, ListenAddress, ListenAddress]>;
  close(withinMs: number): Promise<void>;
}

export function createTransports(
  { servers, bounds }: Settings,
  {
    limits,
    health,
    components,
    rules,
    registry,
    live,
    clock,
    monotonicMs,
    random,
    logger,
    tracer,
  }: TransportsDeps,
): Transports {
  const { tls } = servers.grpc;
  const certificates =
    tls === undefined ? undefined : createCertificates(tls, { statistics: registry, logger });
  const grpc = chooseGrpc(
    { ...toGrpcOptions(servers.grpc, certificates, bounds), bounds },
    servers.grpc.transport,
    {
      health,
      statistics: registry,
      nowMs: monotonicMs,
      random,
      onClientRefused: createRefusalLog({ statistics: registry, logger, monotonicMs }),
      tracer,
      budget: limits.budget,
      onConnectionFailure: ({ reason, cause }) => {
        logger.debug('a gRPC connection ended in an error', { reason, cause });
      },
    },
  );
  const http = createHttpTransport(
    { health, components, statistics: registry, tracer },
    { ...servers.http, bounds, limits },
  );
  const debug = createDebugListener(
    {
      dumpRules: () => (rules.current === undefined ? '' : dumpRules(rules.current).join('\n')),
      dumpStats: () => dumpTextInSlices(registry),
      dumpStatsJson: () => dumpJsonInSlices(registry),
      live,
      clock,
    },
    { ...servers.debug, limits, allowedHosts: bounds.debugAllowedHosts ?? [] },
  );
  return {
    questions$: merge(grpc.questions$, http.questions$),
    run$: merge(grpc.run$, http.run$, debug.run$),
    async listen() {
      const opening = [
        listenAt(grpc, { host: 'GRPC_HOST', port: 'GRPC_PORT', path: 'GRPC_UDS' }),
        listenAt(http, { host: 'HOST', port: 'PORT' }),
        listenAt(debug, { host: 'DEBUG_HOST', port: 'DEBUG_PORT' }),
      ] as const;
      throwAll(await Promise.allSettled(opening));
      return Promise.all(opening);
    },
    async close(withinMs) {
      certificates?.close();
      await Promise.all([grpc.close(withinMs), http.close(withinMs)]);
      await debug.close(withinMs);
    },
  };
}

/** All that failed, as one error: an operator shall see every address that cannot be had. */
function throwAll(results: readonly PromiseSettledResult<unknown>[]): void {
  const errors = results.flatMap((result) =>
    result.status === 'rejected' ? [result.reason as unknown] : [],
  );
  if (errors.length > 0) throw new AggregateError(errors);
}

/** GRPC_TRANSPORT: our own engine, or the library's server as the conservative alternative. */
function chooseGrpc(
  options: GrpcTransportOptions,
  engine: GrpcServerSettings['transport'],
  deps: WireTransportDeps,
): Transport {
  return engine === 'wire'
    ? createWireTransport(deps, options)
    : loadGrpcJs().createGrpcJsTransport(deps, options);
}

/** Loaded only when it is used: start-up time. */
function loadGrpcJs(): typeof GrpcJs {
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- late on purpose
  return require('../transport/grpc/grpc-js/transport') as typeof GrpcJs;
}
