import type { Socket } from 'node:net';
import {
  Server,
  ServerCredentials,
  logVerbosity,
  setLogVerbosity,
  type ServerOptions,
} from '@grpc/grpc-js';
import { map, merge } from 'rxjs';
import { createStopSignal } from '../../../../streams';
import { ByteBudget } from '../../../platform/byte-budget';
import { DEFAULT_BOUNDS, type TransportBounds } from '../../bounds';
import type { Transport } from '../../listener';
import { createRequestSource } from '../../request-source';
import type { GrpcTransportDeps, GrpcTransportOptions } from '../options';
import { createSocketServer } from '../socket-server';
import { serveDecisions, createHeldBytes } from './should-rate-limit';
import { serveHealth, serveReflection } from './health';

/** The gRPC port by @grpc/grpc-js: ShouldRateLimit, health v1, reflection v1 and v1alpha. */
export function createGrpcJsTransport(
  deps: GrpcTransportDeps,
  options: GrpcTransportOptions,
): Transport {
  const { health, statistics, nowMs, onClientRefused, tracer } = deps;
  const heldBytes = createHeldBytes(deps.budget ?? new ByteBudget(Infinity));
  // The library would write to standard error by itself; relevant problems come as errors.
  setLogVerbosity(logVerbosity.NONE);
  const { bounds = DEFAULT_BOUNDS } = options;
  const server = new Server({
    ...toServerOptions(options, bounds),
    interceptors: [heldBytes.refuseWhenSpent],
  });
  const pendingRequests = createRequestSource();
  serveDecisions(server, {
    bounds,
    ask: pendingRequests.ask,
    statistics,
    nowMs,
    tracer,
    heldBytes,
  });
  const watchers = serveHealth(server, { health, statistics, nowMs });
  const endReflections = options.reflection === false ? () => undefined : serveReflection(server);
  const engine = server.createConnectionInjector(ServerCredentials.createInsecure());
  const accepted = new Set<Socket>();
  const sockets = createSocketServer(
    {
      accept: (socket) => {
        accepted.add(socket);
        socket.once('close', () => accepted.delete(socket));
        heldBytes.accept(socket);
        engine.injectConnection(socket);
      },
      onClientRefused,
    },
    { ...options, allowHalfOpen: false },
  );
  const ended = createStopSignal();
  let closed: Promise<void> | undefined;

  const close = async (withinMs: number): Promise<void> => {
    sockets.stop();
    const stopped = stopWithin(server, accepted, withinMs);
    watchers.close();
    endReflections();
    pendingRequests.close();
    await stopped;
    await sockets.end();
    ended.stop();
  };

  return {
    requests$: pendingRequests.requests$,
    run$: merge(
      ended.stopped$,
      sockets.run$,
      health.changes$.pipe(
        map((status) => {
          watchers.publish(status);
        }),
      ),
    ),
    listen: () => sockets.listen(),
    close: (withinMs) => (closed ??= close(withinMs)),
  };
}

function toServerOptions(
  options: GrpcTransportOptions,
  { maxGrpcMessageBytes }: TransportBounds,
): ServerOptions {
  const { maxConnectionAgeMs, maxConnectionAgeGraceMs } = options;
  return {
    'grpc.max_receive_message_length': maxGrpcMessageBytes,
    // Channelz stays on: without it the library's forceShutdown forgets its sessions.
    ...(maxConnectionAgeMs !== undefined && { 'grpc.max_connection_age_ms': maxConnectionAgeMs }),
    ...(maxConnectionAgeGraceMs !== undefined && {
      'grpc.max_connection_age_grace_ms': maxConnectionAgeGraceMs,
    }),
  };
}

/**
 * Lets the calls in flight end, and then their sockets; destroys those that take longer. The callback of tryShutdown is useless:
 * from Node 24 on the http2 server closes its sessions itself, and the library takes a closing session for one that has ended.
 */
function stopWithin(server: Server, sockets: Iterable<Socket>, withinMs: number): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => {
      server.forceShutdown();
      resolve();
    }, withinMs);
    void Promise.all(Array.from(sockets, whenClosed)).then(() => {
      clearTimeout(cut);
      resolve();
    });
    server.tryShutdown(() => undefined);
  });
}

function whenClosed(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    socket.once('close', () => {
      resolve();
    });
  });
}
