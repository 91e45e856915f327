import { StoreError } from '../core/errors';
import type {
  Answer,
  CallHeaders,
  CallKind,
  CallTrace,
  CounterReply,
  Question,
} from '../core/ports';
import { charactersOf, keptText, MAX_DOMAIN, MAX_ERROR } from './kept-texts';
import type { SpanIds } from '../wire/otlp/span-ids';

/*
 * What is left of a traced call on its way: numbers, short copies of texts and references to what is there anyway, one record
 * for each span. None keeps a request.
 * Times are monotonic milliseconds. All else, ids too, is found out when many spans are encoded together, by code that is
 * then warm: done one by one between other work, the same costs several times as much.
 */

/** A call from its headers to its answer. */
export interface TracedCall extends CallTrace {
  readonly kind: CallKind;
  readonly headers: CallHeaders;
  readonly startMs: number;
  /** Found out when the first of its spans is encoded. */
  place: Place | undefined;
}

/** Where a call's span stands in its trace. */
export interface Place {
  readonly ids: SpanIds;
  readonly parent: SpanIds | undefined;
}

export interface CallRecord {
  readonly span: 'call';
  readonly call: TracedCall;
  readonly endMs: number;
  readonly status: number;
  /** Undefined where the request made no sense. */
  readonly domain: string | undefined;
  readonly descriptors: number;
  /** Descriptors with a limit. */
  readonly limits: number;
  /** The answer's, or that of the failure. */
  readonly code: string;
  readonly isFailure: boolean;
  /** What went wrong by the service's fault. */
  readonly error: string | undefined;
  /** The batch to link to; undefined where that says nothing. */
  readonly store: StoreRecord | undefined;
}

export interface MatchRecord {
  readonly span: 'match';
  readonly call: TracedCall;
  readonly startMs: number;
  readonly endMs: number;
  readonly requests: number;
}

export interface StoreRecord {
  readonly span: 'store';
  /** Those that it serves, as far as they are traced. */
  readonly calls: readonly TracedCall[];
  readonly startMs: number;
  readonly endMs: number;
  readonly requests: number;
  readonly increments: number;
  /** Increments that failed on their own; undefined when none did. */
  readonly failed: number | undefined;
  readonly errorType: string | undefined;
  readonly error: string | undefined;
  /** Drawn when the first span that names them is encoded. */
  ids: SpanIds | undefined;
}

export type SpanRecord = CallRecord | MatchRecord | StoreRecord;

/** What is told of a call: nothing of a descriptor's value, it may be a person's. */
export function toCallRecord(
  call: TracedCall,
  endMs: number,
  answer: Answer,
  request: Question['request'] | undefined,
  store: StoreRecord | undefined,
): CallRecord {
  const isFailure = answer.kind === 'failure';
  return {
    span: 'call',
    call,
    endMs,
    status: call.kind.statusOf(answer),
    domain: request && keptText(request.domain, MAX_DOMAIN),
    descriptors: request?.descriptors.length ?? 0,
    limits: isFailure ? 0 : limitsOf(answer.statuses),
    code: isFailure ? answer.code : answer.overallCode,
    isFailure,
    // A request that makes no sense is its caller's error, not the service's.
    error:
      isFailure && answer.code !== 'invalid_request'
        ? keptText(answer.message, MAX_ERROR)
        : undefined,
    store,
  };
}

function limitsOf(statuses: readonly { readonly currentLimit: unknown }[]): number {
  let limits = 0;
  for (const { currentLimit } of statuses) if (currentLimit !== undefined) limits += 1;
  return limits;
}

export function toStoreRecord(
  times: Pick<StoreRecord, 'startMs' | 'endMs'>,
  sizes: Pick<StoreRecord, 'requests' | 'increments'>,
  reply: CounterReply | StoreError,
  calls: readonly TracedCall[],
): StoreRecord {
  const isError = reply instanceof StoreError;
  return {
    span: 'store',
    calls,
    startMs: times.startMs,
    endMs: times.endMs,
    requests: sizes.requests,
    increments: sizes.increments,
    failed: isError ? undefined : reply.failures?.size,
    errorType: isError ? reply.code : undefined,
    error: isError ? keptText(reply.message, MAX_ERROR) : undefined,
    ids: undefined,
  };
}

/** A record and its call as objects, without texts; two bytes for each character of those. */
const RECORD_BYTES = 256;
const BYTES_PER_CHARACTER = 2;
const REFERENCE_BYTES = 8;

/** Bytes that a record keeps alive at most. Records share calls: each counts its own. */
export function sizeOf(record: SpanRecord): number {
  const error = record.span === 'match' ? undefined : record.error;
  const texts = BYTES_PER_CHARACTER * (error?.length ?? 0);
  if (record.span === 'store') return RECORD_BYTES + REFERENCE_BYTES * record.calls.length + texts;
  const domain = record.span === 'call' ? (record.domain?.length ?? 0) : 0;
  const ofCall = BYTES_PER_CHARACTER * (domain + charactersOf(record.call.headers));
  return RECORD_BYTES + ofCall + texts;
}
