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
import { fail } from './should-rate-limit';
import { ignore, type Caller, type ServedMethod } from './method';

interface HealthDeps {
  readonly health: Health;
  readonly statistics: Statistics;
  /** Monotonic milliseconds, for response times. */
  readonly nowMs: () => number;
}

/** Check and Watch of grpc.health.v1.Health for all connections. */
export interface HealthMethods {
  readonly check: ServedMethod;
  readonly watch: ServedMethod;
  /** Tells every watcher whose status is another one now. */
  publish(status: HealthStatus<string>): void;
  /** Ends all watches with UNAVAILABLE, and those to come. */
  close(): void;
}

interface Watcher {
  readonly caller: Caller;
  readonly ticket: number;
  /** Whether it asked for a name of ours; the name itself is not kept. */
  readonly isKnown: boolean;
  told: ServingStatus;
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
  const watchers = new Map<Caller, Map<number, Watcher>>();
  let closed = false;

  const forget = (caller: Caller, ticket: number) => {
    const own = watchers.get(caller);
    if (own?.delete(ticket) === true && own.size === 0) watchers.delete(caller);
  };

  const check = (caller: Caller, ticket: number, service: string | Malformed) => {
    if (typeof service !== 'string') {
      refuse(caller, ticket, service);
      return;
    }
    const status = servingStatus(isServed(service), health.current);
    if (status !== 'SERVICE_UNKNOWN') caller.grpc.answer(ticket, status, SERVING_STATUS);
    else fail(caller, ticket, grpcStatus(StatusCode.notFound, unknownService(service)));
  };

  const watch = (caller: Caller, ticket: number, service: string) => {
    const isKnown = isServed(service);
    const told = servingStatus(isKnown, health.current);
    const own = watchers.get(caller) ?? new Map<number, Watcher>();
    watchers.set(caller, own.set(ticket, { caller, ticket, isKnown, told }));
    caller.grpc.send(ticket, encodeHealthResponse(told));
    if (closed) stop(caller, ticket);
  };

  const stop = (caller: Caller, ticket: number) => {
    forget(caller, ticket);
    fail(caller, ticket, STOPPING);
    caller.touch();
  };

  const all = (): Watcher[] => [...watchers.values()].flatMap((own) => [...own.values()]);

  return {
    check: {
      requests: 'one',
      onMessage(caller, ticket, bytes, start, end) {
        const startedMs = nowMs();
        statistics.count('ratelimit_server.Check.total_requests', 1);
        check(caller, ticket, decodeHealthRequest(bytes, start, end));
        statistics.time('ratelimit_server.Check.response_time', nowMs() - startedMs, 1);
      },
      onHalfClose: ignore,
      onCancel: ignore,
    },
    watch: {
      requests: 'one',
      onMessage(caller, ticket, bytes, start, end) {
        const service = decodeHealthRequest(bytes, start, end);
        if (typeof service === 'string') watch(caller, ticket, service);
        else refuse(caller, ticket, service);
      },
      onHalfClose: ignore,
      onCancel(caller, ticket) {
        forget(caller, ticket);
        caller.grpc.finish(ticket);
      },
    },
    publish(status) {
      for (const watcher of all()) {
        const next = servingStatus(watcher.isKnown, status);
        if (next === watcher.told) continue;
        watcher.told = next;
        watcher.caller.grpc.send(watcher.ticket, encodeHealthResponse(next));
        watcher.caller.touch();
      }
    },
    close() {
      closed = true;
      for (const { caller, ticket } of all()) stop(caller, ticket);
    },
  };
}

function refuse(caller: Caller, ticket: number, malformed: Malformed): void {
  fail(caller, ticket, grpcStatus(StatusCode.invalidArgument, malformedRequest(malformed)));
}
