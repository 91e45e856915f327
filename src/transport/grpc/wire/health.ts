import type { HealthStatus } from '../../../../streams';
import type { Statistics } from '../../../core/ports';
import {
  decodeHealthRequest,
  encodeHealthResponse,
  type ServingStatus,
} from '../../../wire/grpc/health';
import { framed } from '../../../wire/grpc/responses';
import { grpcStatus, StatusCode } from '../../../wire/grpc/status';
import type { Malformed } from '../../../wire/protobuf/read';
import { isServed, malformedRequest, servingStatus, unknownService, type Health } from '../service';
import { ignore, type Client, type MethodHandler } from './method-handler';

interface HealthDeps {
  readonly health: Health;
  readonly statistics: Statistics;
  /** Monotonic milliseconds, for response times. */
  readonly nowMs: () => number;
}

/** Check and Watch of grpc.health.v1.Health for all connections. */
export interface HealthMethods {
  readonly check: MethodHandler;
  readonly watch: MethodHandler;
  /** Sends the status to every watcher whose last one differs. */
  publish(status: HealthStatus<string>): void;
  /** Ends all watches with UNAVAILABLE, and those to come. */
  close(): void;
}

interface Watcher {
  readonly client: Client;
  readonly ticket: number;
  /** Whether it asked for a name of ours; the name itself is not kept. */
  readonly isKnown: boolean;
  lastSent: ServingStatus;
}

const STOPPING = grpcStatus(StatusCode.unavailable, 'the service is stopping');
const SERVING_STATUS = framed<ServingStatus>({
  maxBytes: () => 2,
  write: (status, out, at) => {
    const message = encodeHealthResponse(status);
    out.set(message, at);
    return at + message.length;
  },
});

export function createHealthMethods({ health, statistics, nowMs }: HealthDeps): HealthMethods {
  const watchers = new Map<Client, Map<number, Watcher>>();
  let closed = false;

  const forget = (client: Client, ticket: number) => {
    const own = watchers.get(client);
    if (own?.delete(ticket) === true && own.size === 0) watchers.delete(client);
  };

  const check = (client: Client, ticket: number, service: string | Malformed) => {
    if (typeof service !== 'string') {
      refuse(client, ticket, service);
      return;
    }
    const status = servingStatus(isServed(service), health.current);
    if (status !== 'SERVICE_UNKNOWN') client.grpc.answer(ticket, status, SERVING_STATUS);
    else client.grpc.fail(ticket, grpcStatus(StatusCode.notFound, unknownService(service)));
  };

  const watch = (client: Client, ticket: number, service: string) => {
    const isKnown = isServed(service);
    const lastSent = servingStatus(isKnown, health.current);
    const own = watchers.get(client) ?? new Map<number, Watcher>();
    watchers.set(client, own.set(ticket, { client, ticket, isKnown, lastSent }));
    client.grpc.send(ticket, encodeHealthResponse(lastSent));
    if (closed) stop(client, ticket);
  };

  const stop = (client: Client, ticket: number) => {
    forget(client, ticket);
    client.grpc.fail(ticket, STOPPING);
    client.scheduleFlush();
  };

  const all = (): Watcher[] => [...watchers.values()].flatMap((own) => [...own.values()]);

  return {
    check: {
      requests: 'one',
      onMessage(client, ticket, bytes, start, end) {
        const startedMs = nowMs();
        statistics.count('ratelimit_server.Check.total_requests', 1);
        check(client, ticket, decodeHealthRequest(bytes, start, end));
        statistics.time('ratelimit_server.Check.response_time', nowMs() - startedMs, 1);
      },
      onHalfClose: ignore,
      onCancel: ignore,
    },
    watch: {
      requests: 'one',
      onMessage(client, ticket, bytes, start, end) {
        const service = decodeHealthRequest(bytes, start, end);
        if (typeof service === 'string') watch(client, ticket, service);
        else refuse(client, ticket, service);
      },
      onHalfClose: ignore,
      onCancel(client, ticket) {
        forget(client, ticket);
        client.grpc.finish(ticket);
      },
    },
    publish(status) {
      for (const watcher of all()) {
        const next = servingStatus(watcher.isKnown, status);
        if (next === watcher.lastSent) continue;
        watcher.lastSent = next;
        watcher.client.grpc.send(watcher.ticket, encodeHealthResponse(next));
        watcher.client.scheduleFlush();
      }
    },
    close() {
      closed = true;
      for (const { client, ticket } of all()) stop(client, ticket);
    },
  };
}

function refuse(client: Client, ticket: number, malformed: Malformed): void {
  client.grpc.fail(ticket, grpcStatus(StatusCode.invalidArgument, malformedRequest(malformed)));
}
