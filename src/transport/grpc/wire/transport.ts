import { map, merge } from 'rxjs';
import { createStopSignal } from '../../../../streams';
import type { Random } from '../../../core/ports';
import type { Http2Failure } from '../../../wire/http2/api';
import { DEFAULT_BOUNDS } from '../../bounds';
import { ByteBudget } from '../../../platform/byte-budget';
import type { Transport } from '../../listener';
import { HEALTH_CHECK, HEALTH_WATCH, REFLECTION_PATHS, SHOULD_RATE_LIMIT } from '../service';
import type { GrpcTransportDeps, GrpcTransportOptions } from '../options';
import { createSocketServer } from '../socket-server';
import { createConnections } from './connections';
import { createDecisionMethod } from './should-rate-limit';
import { createHealthMethods, createReflectionMethod } from './health';
import type { MethodHandler } from './connection';
import { createRequestBatches } from '../../request-source';

export interface WireTransportDeps extends GrpcTransportDeps {
  /** Spreads the ages of connections. */
  readonly random: Random;
  /** Called for every connection that ended in an error: a breach by the client, or an internal fault. */
  readonly onConnectionFailure?: ((failure: Http2Failure) => void) | undefined;
}

/** The gRPC port by our own engine: ShouldRateLimit, health v1, reflection v1 and v1alpha. */
export function createWireTransport(
  deps: WireTransportDeps,
  options: GrpcTransportOptions,
): Transport {
  const { health, statistics, nowMs, random, tracer, onClientRefused } = deps;
  const { onConnectionFailure = () => undefined, budget = new ByteBudget(Infinity) } = deps;
  const { bounds = DEFAULT_BOUNDS } = options;
  const { maxGrpcMessageBytes: maxBytes, maxUnpackRatio: maxRatio } = bounds;
  const pendingRequests = createRequestBatches();
  const decisions = createDecisionMethod({
    bounds,
    ask: pendingRequests.ask,
    statistics,
    nowMs,
    tracer,
  });
  const healthMethods = createHealthMethods({ health, statistics, nowMs });
  const reflection = createReflectionMethod();
  const reflectionPaths = options.reflection === false ? [] : REFLECTION_PATHS;
  const methods = new Map<string, MethodHandler>([
    [SHOULD_RATE_LIMIT, decisions.method],
    [HEALTH_CHECK, healthMethods.check],
    [HEALTH_WATCH, healthMethods.watch],
    ...reflectionPaths.map((path) => [path, reflection.method] as const),
  ]);
  const connections = createConnections(
    {
      methods,
      decisions,
      bounds: { maxBytes, maxRatio },
      nowMs,
      random,
      budget,
      onFailure: onConnectionFailure,
    },
    options,
  );
  const server = createSocketServer(
    { accept: connections.accept, onClientRefused },
    { ...options, allowHalfOpen: true },
  );
  const ended = createStopSignal();
  let closed: Promise<void> | undefined;

  const close = async (withinMs: number): Promise<void> => {
    server.stop();
    healthMethods.close();
    reflection.close();
    await connections.close(withinMs);
    // Only now: calls that were sent before their clients saw our GOAWAY had to be answered.
    pendingRequests.close();
    await server.end();
    ended.stop();
  };

  return {
    requests$: pendingRequests.requests$,
    run$: merge(
      ended.stopped$,
      server.run$,
      health.changes$.pipe(
        map((status) => {
          healthMethods.publish(status);
        }),
      ),
    ),
    share: {
      get open() {
        return connections.countStaying();
      },
      keep(most = Infinity) {
        server.acceptAtMost(most);
        connections.keepOldest(most);
      },
    },
    listen: () => server.listen(),
    close: (withinMs) => (closed ??= close(withinMs)),
  };
}
