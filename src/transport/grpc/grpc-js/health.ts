import type {
  Server,
  ServerUnaryCall,
  ServerWritableStream,
  sendUnaryData,
  ServerDuplexStream,
} from '@grpc/grpc-js';
import type { HealthStatus } from '../../../../streams';
import {
  decodeHealthRequest,
  encodeHealthResponse,
  type ServingStatus,
} from '../../../wire/grpc/health';
import { grpcStatus, StatusCode } from '../../../wire/grpc/status';
import type { Malformed } from '../../../wire/protobuf/read';
import type { GrpcTransportDeps } from '../options';
import {
  HEALTH_CHECK,
  HEALTH_WATCH,
  isServed,
  malformedRequest,
  servingStatus,
  unknownService,
  REFLECTION_PATHS,
} from '../service';
import { answerReflection } from '../reflection';

type HealthDeps = Pick<GrpcTransportDeps, 'health' | 'statistics' | 'nowMs'>;

/** Always an object: the library takes an empty string for a missing message. */
interface Request {
  readonly service: string | Malformed;
}
type CheckCall = ServerUnaryCall<Request, ServingStatus>;
type WatchCall = ServerWritableStream<Request, ServingStatus>;

/** Registers Check and Watch of grpc.health.v1.Health; answers the open Watch calls. */
export function serveHealth(server: Server, { health, statistics, nowMs }: HealthDeps) {
  const watchers = new Map<WatchCall, { readonly isKnown: boolean; lastSent: ServingStatus }>();
  let closed = false;

  server.register<Request, ServingStatus>(
    HEALTH_CHECK,
    (call: CheckCall, reply: sendUnaryData<ServingStatus>) => {
      const startedMs = nowMs();
      const { service } = call.request;
      statistics.count('ratelimit_server.Check.total_requests', 1);
      if (typeof service !== 'string') {
        reply(refusal(service));
      } else {
        const status = servingStatus(isServed(service), health.current);
        if (status !== 'SERVICE_UNKNOWN') reply(null, status);
        else reply(grpcStatus(StatusCode.notFound, unknownService(service)));
      }
      statistics.time('ratelimit_server.Check.response_time', nowMs() - startedMs, 1);
    },
    encode,
    decode,
    'unary',
  );

  server.register<Request, ServingStatus>(
    HEALTH_WATCH,
    (call: WatchCall) => {
      const { service } = call.request;
      if (typeof service !== 'string') {
        call.emit('error', refusal(service));
        return;
      }
      const isKnown = isServed(service);
      const lastSent = servingStatus(isKnown, health.current);
      call.write(lastSent);
      if (closed) {
        stop(call);
        return;
      }
      watchers.set(call, { isKnown, lastSent });
      call.once('cancelled', () => watchers.delete(call));
    },
    encode,
    decode,
    'serverStream',
  );

  return {
    /** Sends the status to every watcher whose status has changed. */
    publish(status: HealthStatus<string>) {
      for (const [call, watcher] of watchers) {
        const next = servingStatus(watcher.isKnown, status);
        if (next === watcher.lastSent) continue;
        watcher.lastSent = next;
        call.write(next);
      }
    },
    /** Ends all watches with UNAVAILABLE. */
    close() {
      closed = true;
      for (const call of watchers.keys()) stop(call);
      watchers.clear();
    },
  };
}

function refusal(malformed: Malformed) {
  return grpcStatus(StatusCode.invalidArgument, malformedRequest(malformed));
}

function stop(call: WatchCall): void {
  call.emit('error', grpcStatus(StatusCode.unavailable, 'the service is stopping'));
}

function decode(bytes: Buffer): Request {
  return { service: decodeHealthRequest(bytes, 0, bytes.length) };
}

function encode(status: ServingStatus): Buffer {
  return Buffer.from(encodeHealthResponse(status));
}

type ReflectionCall = ServerDuplexStream<Buffer, Buffer>;

const MALFORMED = grpcStatus(StatusCode.invalidArgument, 'not a valid ServerReflectionRequest');

/** Registers the reflection service; the returned function ends the open calls. */
export function serveReflection(server: Server): () => void {
  const calls = new Set<ReflectionCall>();
  const handle = (call: ReflectionCall): void => {
    calls.add(call);
    call.once('cancelled', () => calls.delete(call));
    call.once('end', () => {
      calls.delete(call);
      call.end();
    });
    call.on('data', (request: Buffer) => {
      const answer = answerReflection(request);
      if (answer === undefined) call.emit('error', MALFORMED);
      else {
        // One request at a time: the next is read when this answer has left.
        call.pause();
        call.write(answer, () => call.resume());
      }
    });
  };
  for (const path of REFLECTION_PATHS) {
    server.register<Buffer, Buffer>(path, handle, asIs, asIs, 'bidi');
  }
  return () => {
    for (const call of calls) call.end();
    calls.clear();
  };
}

function asIs(bytes: Buffer): Buffer {
  return bytes;
}
