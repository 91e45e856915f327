import type { HealthStatus } from '../../../../streams';
import {
  decodeHealthRequest,
  encodeHealthResponse,
  type ServingStatus,
} from '../../../wire/grpc/health';
import { framed } from '../../../wire/grpc/responses';
import { grpcStatus, StatusCode } from '../../../wire/grpc/status';
import type { Malformed } from '../../../wire/protobuf/read';
import type { GrpcTransportDeps } from '../options';
import { isServed, malformedRequest, servingStatus, unknownService } from '../service';
import { ignore, type Client, type MethodHandler } from './connection';
import { answerReflection } from '../reflection';

type HealthDeps = Pick<GrpcTransportDeps, 'health' | 'statistics' | 'nowMs'>;

interface Watcher {
  readonly client: Client;
  readonly callId: number;
  /** Whether its name is ours; the name itself is not kept. */
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

/** Check and Watch of grpc.health.v1.Health for all connections. */
export function createHealthMethods({ health, statistics, nowMs }: HealthDeps) {
  const watchers = new Map<Client, Map<number, Watcher>>();
  let closed = false;

  const forget = (client: Client, callId: number) => {
    const own = watchers.get(client);
    if (own?.delete(callId) === true && own.size === 0) watchers.delete(client);
  };

  const check = (client: Client, callId: number, service: string | Malformed) => {
    if (typeof service !== 'string') {
      refuse(client, callId, service);
      return;
    }
    const status = servingStatus(isServed(service), health.current);
    if (status !== 'SERVICE_UNKNOWN') client.grpc.answer(callId, status, SERVING_STATUS);
    else client.grpc.fail(callId, grpcStatus(StatusCode.notFound, unknownService(service)));
  };

  const watch = (client: Client, callId: number, service: string) => {
    const isKnown = isServed(service);
    const lastSent = servingStatus(isKnown, health.current);
    const own = watchers.get(client) ?? new Map<number, Watcher>();
    watchers.set(client, own.set(callId, { client, callId, isKnown, lastSent }));
    client.grpc.send(callId, encodeHealthResponse(lastSent));
    if (closed) stop(client, callId);
  };

  const stop = (client: Client, callId: number) => {
    forget(client, callId);
    client.grpc.fail(callId, STOPPING);
    client.scheduleFlush();
  };

  const all = (): Watcher[] => [...watchers.values()].flatMap((own) => [...own.values()]);

  return {
    check: {
      requests: 'one',
      onMessage(client, callId, bytes, start, end) {
        const startedMs = nowMs();
        statistics.count('ratelimit_server.Check.total_requests', 1);
        check(client, callId, decodeHealthRequest(bytes, start, end));
        statistics.time('ratelimit_server.Check.response_time', nowMs() - startedMs, 1);
      },
      onHalfClose: ignore,
      onCancel: ignore,
    } satisfies MethodHandler,
    watch: {
      requests: 'one',
      onMessage(client, callId, bytes, start, end) {
        const service = decodeHealthRequest(bytes, start, end);
        if (typeof service === 'string') watch(client, callId, service);
        else refuse(client, callId, service);
      },
      onHalfClose: ignore,
      onCancel(client, callId) {
        forget(client, callId);
        client.grpc.finish(callId);
      },
    } satisfies MethodHandler,
    /** Sends the status to every watcher whose last one differs. */
    publish(status: HealthStatus<string>) {
      for (const watcher of all()) {
        const next = servingStatus(watcher.isKnown, status);
        if (next === watcher.lastSent) continue;
        watcher.lastSent = next;
        watcher.client.grpc.send(watcher.callId, encodeHealthResponse(next));
        watcher.client.scheduleFlush();
      }
    },
    /** Ends all current and later watches with UNAVAILABLE. */
    close() {
      closed = true;
      for (const { client, callId } of all()) stop(client, callId);
    },
  };
}

function refuse(client: Client, callId: number, malformed: Malformed): void {
  client.grpc.fail(callId, grpcStatus(StatusCode.invalidArgument, malformedRequest(malformed)));
}

const MALFORMED = grpcStatus(StatusCode.invalidArgument, 'not a valid ServerReflectionRequest');

/** ServerReflectionInfo for all connections; v1 and v1alpha have the same messages. */
export function createReflectionMethod() {
  const open = new Map<Client, Set<number>>();
  let closed = false;

  const forget = (client: Client, callId: number) => {
    const own = open.get(client);
    if (own?.delete(callId) === true && own.size === 0) open.delete(client);
  };

  const finish = (client: Client, callId: number) => {
    forget(client, callId);
    client.grpc.finish(callId);
  };

  const method: MethodHandler = {
    requests: 'many',
    onMessage(client, callId, bytes, start, end) {
      open.set(client, (open.get(client) ?? new Set()).add(callId));
      const answer = answerReflection(bytes.subarray(start, end));
      if (answer !== undefined) client.grpc.send(callId, answer);
      else {
        forget(client, callId);
        client.grpc.fail(callId, MALFORMED);
      }
      if (closed) finish(client, callId);
    },
    onHalfClose: finish,
    onCancel: finish,
  };
  return {
    method,
    /** Ends all current and later streams. */
    close() {
      closed = true;
      for (const [client, callIds] of open) {
        for (const callId of callIds) finish(client, callId);
        client.scheduleFlush();
      }
    },
  };
}
