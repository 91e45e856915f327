import { merge, type Observable } from 'rxjs';
import type { HealthStatus, Snapshot } from '../../streams';
import type { Clock, Question } from '../core/ports';
import { dumpRules } from '../core/rules/dump';
import type { Rules } from '../core/rules/rules';
import type { Settings } from '../settings/settings';
import { dumpJson, dumpText } from '../stats/dump';
import type { Registry } from '../stats/registry';
import { createDebugListener } from '../transport/debug/listener';
import { createGrpcJsTransport } from '../transport/grpc/grpc-js/transport';
import { createHttpTransport } from '../transport/http/transport';
import type { ListenAddress } from '../transport/listener';

export interface TransportsDeps {
  readonly health: Snapshot<HealthStatus<string>>;
  readonly rules: Snapshot<Rules | undefined>;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly monotonicMs: () => number;
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
  { servers }: Settings,
  { health, rules, registry, clock, monotonicMs }: TransportsDeps,
): Transports {
  const grpc = createGrpcJsTransport(
    { health, statistics: registry, nowMs: monotonicMs },
    { address: servers.grpc },
  );
  const http = createHttpTransport({ health, statistics: registry }, servers.http);
  const debug = createDebugListener(
    {
      dumpRules: () => (rules.current === undefined ? '' : dumpRules(rules.current).join('\n')),
      dumpStats: () => dumpText(registry),
      readStats: () => dumpJson(registry),
      clock,
    },
    servers.debug,
  );
  return {
    questions$: merge(grpc.questions$, http.questions$),
    run$: merge(grpc.run$, http.run$, debug.run$),
    listen: () => Promise.all([grpc.listen(), http.listen(), debug.listen()]),
    async close(withinMs) {
      await Promise.all([grpc.close(withinMs), http.close(withinMs)]);
      await debug.close(withinMs);
    },
  };
}
