import type { RequestBounds } from '../../../core/decision/request';
import type { Decision } from '../../../core/model';
import type { Answer, CallTrace, PendingRequest, Statistics } from '../../../core/ports';
import type { CreateCallContext } from '../../../wire/grpc/api';
import { readNamesWith } from '../../../wire/grpc/call-plan';
import { createHeaderReader } from '../../../wire/http2/hpack/header-reader';
import { framed } from '../../../wire/grpc/responses';
import { createRequestDecoder, isMalformed } from '../../../wire/ratelimit/decode-request';
import { roomForResponse, writeResponse } from '../../../wire/ratelimit/encode-response';
import type { GrpcTransportDeps } from '../options';
import { GRPC_CALL, isEarly, refuseMessage, toGrpcStatus } from '../service';
import { ignore, type Client, type MethodHandler } from './connection';

interface DecisionDeps extends Pick<GrpcTransportDeps, 'statistics' | 'nowMs' | 'tracer'> {
  readonly bounds: RequestBounds;
  readonly ask: (batch: readonly PendingRequest[]) => void;
}

const TOTAL_REQUESTS = 'ratelimit_server.ShouldRateLimit.total_requests';
const RESPONSE_TIME = 'ratelimit_server.ShouldRateLimit.response_time';

const DECISION = framed<Decision>({ maxBytes: roomForResponse, write: writeResponse });

/** ShouldRateLimit for all connections. */
export function createDecisionMethod(deps: DecisionDeps) {
  const { ask, statistics, nowMs, tracer } = deps;
  const decode = createRequestDecoder(deps.bounds);
  const times = createTimes(statistics, nowMs);
  let batch: PendingRequest[] = [];
  let received = 0;
  let readAtMs = 0;

  const addTime = ({ askedAtMs }: Client, callId: number) => {
    times.add(askedAtMs[callId] as number);
  };

  const method: MethodHandler = {
    requests: 'one',
    onMessage(client, callId, bytes, start, end) {
      received += 1;
      client.askedAtMs[callId] = readAtMs;
      const request = decode(bytes, start, end);
      // Only `createCallContext` creates the context of these calls.
      const trace =
        tracer === undefined
          ? undefined
          : (client.grpc.callContext(callId) as CallTrace | undefined);
      if (isMalformed(request)) {
        addTime(client, callId);
        const refusal = refuseMessage(request, statistics);
        trace?.refused(refusal);
        client.grpc.fail(callId, toGrpcStatus(refusal));
      } else batch.push({ request, responder: client.responder, callId, trace });
    },
    onHalfClose: ignore,
    onCancel(client, callId) {
      const waitedMs = nowMs() - (client.askedAtMs[callId] as number);
      if (isEarly(waitedMs, client.grpc.timeoutMs(callId))) client.left.add(callId);
      // Its answer still comes, ends the call id and is timed: a slow answer is slow, also for a client that has cancelled.
      client.scheduleFlush();
    },
  };

  /** Starts the trace of a call when its headers arrive; undefined: no call is traced. */
  const createCallContext: CreateCallContext<Client> | undefined =
    tracer === undefined
      ? undefined
      : (called, headers) => (called === method ? tracer.start(GRPC_CALL, headers) : undefined);

  return {
    method,
    createCallContext,
    /** Keeps the header fields that traces need; one for all connections. */
    headerReader: createHeaderReader(readNamesWith(tracer?.headerNames ?? []), tracer?.placeholder),
    /** Called before a socket read: its bytes came at `atMs`. */
    begin: (atMs: number): void => {
      readAtMs = atMs;
    },
    /** Called after it: emits the read's requests as one batch. */
    emitBatch() {
      if (received === 0) return;
      statistics.count(TOTAL_REQUESTS, received);
      received = 0;
      if (batch.length === 0) return;
      const asked = batch;
      batch = [];
      ask(asked);
    },
    /** Answers a call; false where its client has left, or its deadline has passed. */
    answer: (client: Client, callId: number, answer: Answer): boolean => {
      addTime(client, callId);
      if (client.left.size > 0) client.left.delete(callId);
      return answer.kind === 'failure'
        ? client.grpc.fail(callId, toGrpcStatus(answer))
        : client.grpc.answer(callId, answer, DECISION);
    },
    /** Reports the times of the answers since the last report; once per turn. */
    reportTimes: times.report,
  };
}

export type DecisionMethod = ReturnType<typeof createDecisionMethod>;

/** Response times, reported once for all calls that arrived and were answered together. */
function createTimes(statistics: Statistics, nowMs: () => number) {
  let askedAt = 0;
  let count = 0;
  let answeredAtMs: number | undefined;
  const flush = () => {
    if (count === 0) return;
    answeredAtMs ??= nowMs();
    statistics.time(RESPONSE_TIME, Math.max(0, answeredAtMs - askedAt), count);
    count = 0;
  };
  return {
    add(atMs: number) {
      if (atMs !== askedAt) {
        flush();
        askedAt = atMs;
      }
      count += 1;
    },
    report: () => {
      flush();
      answeredAtMs = undefined;
    },
  };
}
