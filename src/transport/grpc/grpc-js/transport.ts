import {
  Server,
  ServerCredentials,
  logVerbosity,
  setLogVerbosity,
  type ServerOptions,
} from '@grpc/grpc-js';
import { map, merge } from 'rxjs';
import { ByteBudget } from '../../../platform/byte-budget';
import { DEFAULT_BOUNDS, type TransportBounds } from '../../bounds';
import type { Transport } from '../../listener';
import { createEnd } from '../../end';
import { createQuestionSource } from '../../question-source';
import type { GrpcTransportDeps, GrpcTransportOptions } from '../options';
import { createSocketServer } from '../socket-server';
import { serveDecisions } from './should-rate-limit';
import { serveHealth } from './health';
import { createHeldBytes } from './held-bytes';
import { serveReflection } from './reflection';

/** The gRPC port by @grpc/grpc-js: ShouldRateLimit, health v1, reflection v1 and v1alpha. */
export function createGrpcJsTransport(
  deps: GrpcTransportDeps,
  options: GrpcTransportOptions,
): Transport {
  const { health, statistics, nowMs, onClientRefused, tracer } = deps;
  const heldBytes = createHeldBytes(deps.budget ?? new ByteBudget(Infinity));
  // The library would write lines of its own to standard error; what matters of them comes as an error.
  setLogVerbosity(logVerbosity.NONE);
  const { bounds = DEFAULT_BOUNDS } = options;
  const server = new Server({
    ...toServerOptions(options, bounds),
    interceptors: [heldBytes.refuseWhenSpent],
  });
  const questions = createQuestionSource();
  serveDecisions(server, { bounds, ask: questions.ask, statistics, nowMs, tracer, heldBytes });
  const watchers = serveHealth(server, { health, statistics, nowMs });
  const endReflections = options.reflection === false ? () => undefined : serveReflection(server);
  const engine = server.createConnectionInjector(ServerCredentials.createInsecure());
  const sockets = createSocketServer(
    {
      accept: (socket) => {
        heldBytes.accept(socket);
        engine.injectConnection(socket);
      },
      onClientRefused,
    },
    { ...options, allowHalfOpen: false },
  );
  const end = createEnd();
  let closed: Promise<void> | undefined;

  const close = async (withinMs: number): Promise<void> => {
    sockets.stop();
    const stopped = stopWithin(server, withinMs);
    watchers.close();
    endReflections();
    questions.close();
    await stopped;
    await sockets.end();
    end.reach();
  };

  return {
    questions$: questions.questions$,
    run$: merge(
      end.reached$,
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

/** Lets the calls in flight end; cuts them when they take longer. */
function stopWithin(server: Server, withinMs: number): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => {
      server.forceShutdown();
    }, withinMs);
    server.tryShutdown(() => {
      clearTimeout(cut);
      resolve();
    });
  });
}
