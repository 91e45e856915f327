import type { RequestBounds } from '../../../core/decision/request';
import type { Decision } from '../../../core/model';
import type { Answer, CallTrace, CallTracer, Question, Statistics } from '../../../core/ports';
import type { CreateCallContext } from '../../../wire/grpc/api';
import { readNamesWith } from '../../../wire/grpc/call-plan';
import { createHeaderReader, type HeaderReader } from '../../../wire/http2/hpack/header-reader';
import { framed } from '../../../wire/grpc/responses';
import type { GrpcStatus } from '../../../wire/grpc/status';
import { createRequestDecoder, isMalformed } from '../../../wire/ratelimit/decode-request';
import { roomForResponse, writeResponse } from '../../../wire/ratelimit/encode-response';
import { GRPC_CALL, refuseMessage } from '../service';
import { toGrpcStatus } from '../status';
import { ignore, type Caller, type ServedMethod } from './method';

interface DecisionDeps {
  readonly bounds: RequestBounds;
  readonly ask: (batch: readonly Question[]) => void;
  readonly statistics: Statistics;
  /** Monotonic milliseconds, for response times. */
  readonly nowMs: () => number;
  readonly tracer?: CallTracer | undefined;
}

/** ShouldRateLimit for all connections. */
export interface Decisions {
  readonly method: ServedMethod;
  /** Which calls are traced, asked as their headers come; undefined: none. */
  readonly noteOf: CreateCallContext<ServedMethod> | undefined;
  /** The header fields that are kept for it, and what connections have met of them. */
  readonly headerReader: HeaderReader;
  /** Before a socket read is taken: its bytes came at `atMs`. */
  readonly begin: (atMs: number) => void;
  /** After it: hands on the questions that it brought. */
  handOn(): void;
  /** Answers a call. */
  readonly answer: (caller: Caller, ticket: number, answer: Answer) => void;
  /** Reports the times of the answers since the last time; once per turn. */
  settle(): void;
}

const TOTAL_REQUESTS = 'ratelimit_server.ShouldRateLimit.total_requests';
const RESPONSE_TIME = 'ratelimit_server.ShouldRateLimit.response_time';
const COUNTED = -1;

const DECISION = framed<Decision>({ maxBytes: roomForResponse, write: writeResponse });

export function createDecisions(deps: DecisionDeps): Decisions {
  const { ask, statistics, nowMs, tracer } = deps;
  const decode = createRequestDecoder(deps.bounds);
  const times = createTimes(statistics, nowMs);
  let batch: Question[] = [];
  let received = 0;
  let readAtMs = 0;

  const settleTime = ({ askedAtMs }: Caller, ticket: number) => {
    const askedAt = askedAtMs[ticket] as number;
    if (askedAt === COUNTED) return;
    askedAtMs[ticket] = COUNTED;
    times.add(askedAt);
  };

  const method: ServedMethod = {
    requests: 'one',
    onMessage(caller, ticket, bytes, start, end) {
      received += 1;
      caller.askedAtMs[ticket] = readAtMs;
      const request = decode(bytes, start, end);
      // Nobody but `noteOf` makes the notes of these calls.
      const trace =
        tracer === undefined
          ? undefined
          : (caller.grpc.callContext(ticket) as CallTrace | undefined);
      if (isMalformed(request)) {
        settleTime(caller, ticket);
        const refusal = refuseMessage(request, statistics);
        trace?.refused(refusal);
        fail(caller, ticket, toGrpcStatus(refusal));
      } else batch.push({ request, asker: caller.asker, ticket, trace });
    },
    onHalfClose: ignore,
    onCancel(caller, ticket) {
      // Its answer comes all the same and ends the ticket.
      settleTime(caller, ticket);
      caller.touch();
    },
  };

  return {
    method,
    headerReader: createHeaderReader(readNamesWith(tracer?.headerNames ?? []), tracer?.standIn),
    noteOf:
      tracer === undefined
        ? undefined
        : (called, headers) => (called === method ? tracer.start(GRPC_CALL, headers) : undefined),
    begin(atMs) {
      readAtMs = atMs;
    },
    handOn() {
      if (received === 0) return;
      statistics.count(TOTAL_REQUESTS, received);
      received = 0;
      if (batch.length === 0) return;
      const asked = batch;
      batch = [];
      ask(asked);
    },
    answer(caller, ticket, answer) {
      settleTime(caller, ticket);
      if (answer.kind === 'failure') fail(caller, ticket, toGrpcStatus(answer));
      else caller.grpc.answer(ticket, answer, DECISION);
    },
    settle: times.report,
  };
}

export function fail(caller: Caller, ticket: number, status: GrpcStatus): void {
  caller.grpc.fail(ticket, status);
}

/** Response times, reported once for all calls that were asked and answered together. */
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
