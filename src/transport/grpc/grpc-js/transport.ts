import {
  Server,
  ServerCredentials,
  logVerbosity,
  setLogVerbosity,
  type ServerOptions,
} from '@grpc/grpc-js';
import { map, merge } from 'rxjs';
import { addressText, cannotListen, type ListenAddress, type Transport } from '../../listener';
import { createEnd } from '../../end';
import { createQuestionSource } from '../../question-source';
import { removeStaleSocket } from '../../unix-socket';
import { MAX_MESSAGE_BYTES } from '../methods';
import type { GrpcTransportDeps, GrpcTransportOptions, ServerTls } from '../options';
import { serveDecisions } from './decisions';
import { serveHealth } from './health';
import { serveReflection } from './reflection';

/** The gRPC port by @grpc/grpc-js: ShouldRateLimit, health v1, reflection v1 and v1alpha. */
export function createGrpcJsTransport(
  deps: GrpcTransportDeps,
  options: GrpcTransportOptions,
): Transport {
  const { health, statistics, nowMs, tracer } = deps;
  // The library would write lines of its own to standard error; what matters of them comes as an error.
  setLogVerbosity(logVerbosity.NONE);
  const server = new Server(toServerOptions(options));
  const questions = createQuestionSource();
  serveDecisions(server, { ask: questions.ask, statistics, nowMs, tracer });
  const watchers = serveHealth(server, { health, statistics, nowMs });
  const endReflections = serveReflection(server);
  const end = createEnd();
  let closed: Promise<void> | undefined;

  const close = async (withinMs: number): Promise<void> => {
    const stopped = stopWithin(server, withinMs);
    watchers.close();
    endReflections();
    questions.close();
    await stopped;
    end.reach();
  };

  return {
    questions$: questions.questions$,
    run$: merge(
      end.reached$,
      health.changes$.pipe(
        map((status) => {
          watchers.publish(status);
        }),
      ),
    ),
    listen: () => listen(server, options),
    close: (withinMs) => (closed ??= close(withinMs)),
  };
}

function toServerOptions(options: GrpcTransportOptions): ServerOptions {
  const { maxConnectionAgeMs, maxConnectionAgeGraceMs } = options;
  return {
    'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
    // Channelz stays on: without it the library's forceShutdown forgets its sessions.
    ...(maxConnectionAgeMs !== undefined && { 'grpc.max_connection_age_ms': maxConnectionAgeMs }),
    ...(maxConnectionAgeGraceMs !== undefined && {
      'grpc.max_connection_age_grace_ms': maxConnectionAgeGraceMs,
    }),
  };
}

async function listen(
  server: Server,
  { address, tls }: GrpcTransportOptions,
): Promise<ListenAddress> {
  if ('path' in address) await removeStaleSocket(address.path);
  return new Promise((resolve, reject) => {
    server.bindAsync(addressText(address), toCredentials(tls), (error, port) => {
      if (error !== null) reject(cannotListen(address, plainError(error)));
      else resolve('path' in address ? address : { host: address.host, port });
    });
  });
}

/** The library wraps the system's own error: "No address added … errors: [listen EADDRINUSE …]". */
function plainError(error: Error): Error {
  const [, inner] = /errors: \[(.*)\]$/s.exec(error.message) ?? [];
  return inner === undefined ? error : new Error(inner, { cause: error });
}

function toCredentials(tls: ServerTls | undefined): ServerCredentials {
  if (tls === undefined) return ServerCredentials.createInsecure();
  const pair = { cert_chain: tls.certificate, private_key: tls.key };
  return ServerCredentials.createSsl(tls.clientCa ?? null, [pair], tls.clientCa !== undefined);
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
