import { StoreError } from '../core/errors';
import type {
  Answer,
  CallHeaders,
  CallKind,
  CallTrace,
  CounterReply,
  PendingRequest,
} from '../core/ports';
import { copyOf } from '../platform/copy-of';
import type { SpanIds } from '../wire/otlp/shapes';
import { HEADER_NAMES, parentOf } from './parent';

/*
 * One record per span: numbers, short copies of texts and references to shared objects. None keeps a request alive. Times are
 * monotonic milliseconds. Everything else, ids too, is computed when many spans are encoded together by code that is then warm: one
 * by one between other work it costs several times as much.
 */

/** A call from its headers to its answer. */
export interface TracedCall extends CallTrace {
  readonly kind: CallKind;
  readonly headers: CallHeaders;
  readonly startMs: number;
  /** Set when the first of its spans is encoded. */
  context: SpanContext | undefined;
}

/** The ids of a call's span and of its parent. */
export interface SpanContext {
  readonly ids: SpanIds;
  readonly parent: SpanIds | undefined;
}

export interface CallRecord {
  readonly span: 'call';
  readonly call: TracedCall;
  readonly endMs: number;
  readonly status: number;
  /** Undefined where the request was invalid. */
  readonly domain: string | undefined;
  readonly descriptors: number;
  /** Descriptors with a limit. */
  readonly limits: number;
  /** Descriptors answered by leased hits, without the store. */
  readonly leased: number;
  /** The code of the answer, or that of the failure. */
  readonly code: string;
  readonly isFailure: boolean;
  /** The message of an internal fault. */
  readonly error: string | undefined;
  /** The batch to link to; undefined where a link would be redundant. */
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
  /** Its traced calls. */
  readonly calls: readonly TracedCall[];
  readonly startMs: number;
  readonly endMs: number;
  readonly requests: number;
  /** Increments that went to the store. */
  readonly increments: number;
  /** Increments answered by leased hits, without the store; undefined: none. */
  readonly leased: number | undefined;
  /** Increments that failed alone; undefined when none did. */
  readonly failed: number | undefined;
  readonly errorType: string | undefined;
  readonly error: string | undefined;
  /** Drawn when the first span that names them is encoded. */
  ids: SpanIds | undefined;
}

export type SpanRecord = CallRecord | MatchRecord | StoreRecord;

/** The span's facts about an answered request. */
export interface AnsweredCall {
  readonly request: PendingRequest['request'];
  readonly leased: number;
  /** See CallRecord. */
  readonly store: StoreRecord | undefined;
}

/** The record of a call; without the last argument, of an invalid one. It contains no value of a descriptor: that may be personal data. */
export function toCallRecord(
  call: TracedCall,
  endMs: number,
  answer: Answer,
  answered?: AnsweredCall,
): CallRecord {
  const isFailure = answer.kind === 'failure';
  const { request, leased = 0, store } = answered ?? {};
  return {
    span: 'call',
    call,
    endMs,
    status: call.kind.statusOf(answer),
    domain: request && keptText(request.domain, MAX_DOMAIN),
    descriptors: request?.descriptors.length ?? 0,
    limits: isFailure ? 0 : limitsOf(answer.statuses),
    leased,
    code: isFailure ? answer.code : answer.overallCode,
    isFailure,
    // An invalid request is its client's error, not the service's.
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
  const leased = isError ? undefined : reply.leased?.filter(Boolean).length;
  return {
    span: 'store',
    calls,
    startMs: times.startMs,
    endMs: times.endMs,
    requests: sizes.requests,
    increments: sizes.increments - (leased ?? 0),
    leased,
    failed: isError ? undefined : reply.failures?.size,
    errorType: isError ? reply.code : undefined,
    error: isError ? keptText(reply.message, MAX_ERROR) : undefined,
    ids: undefined,
  };
}

/** A record and its call as objects, without their strings, which add two bytes per character. */
const RECORD_BYTES = 256;
const BYTES_PER_CHARACTER = 2;
const REFERENCE_BYTES = 8;

/** An upper bound of the bytes that a record keeps alive. Records share calls: each counts its own. */
export function sizeOf(record: SpanRecord): number {
  const error = record.span === 'match' ? undefined : record.error;
  const texts = BYTES_PER_CHARACTER * (error?.length ?? 0);
  if (record.span === 'store') return RECORD_BYTES + REFERENCE_BYTES * record.calls.length + texts;
  const domain = record.span === 'call' ? (record.domain?.length ?? 0) : 0;
  const ofCall = BYTES_PER_CHARACTER * (domain + charactersOf(record.call.headers));
  return RECORD_BYTES + ofCall + texts;
}

/** Maximal length of a domain in a span, in characters. */
const MAX_DOMAIN = 256;
/** Maximal length of an error. */
const MAX_ERROR = 1_024;
/** Headers are usually a few hundred characters; above this, only those of the trace are kept. */
const MAX_HEADERS = 2_048;
/** Twice the required capacity of a W3C `tracestate`. */
const MAX_HEADER = 1_024;
const MAX_HEADER_FIELDS = 16;

/** A string for a queued span: short, and a copy. */
export function keptText(text: string, maxLength: number): string {
  return copyOf(text.length <= maxLength ? text : `${text.slice(0, maxLength)}…`);
}

/** The headers of a call while its spans are queued: unchanged or, where they are long, only the fields of its trace without long ones. */
export function keptHeaders(headers: CallHeaders): CallHeaders {
  if (charactersOf(headers) <= MAX_HEADERS) return headers;
  const names: string[] = [];
  const values: string[] = [];
  for (let i = 0; i < headers.names.length && names.length < MAX_HEADER_FIELDS; i++) {
    const name = headers.names[i] as string;
    const value = headers.values[i] as string;
    if (!HEADER_NAMES.includes(name) || value.length > MAX_HEADER) continue;
    names.push(name);
    values.push(copyOf(value));
  }
  return { names, values };
}

export function charactersOf({ names, values }: CallHeaders): number {
  let characters = 0;
  for (let i = 0; i < names.length; i++)
    characters += (names[i] as string).length + (values[i] as string).length;
  return characters;
}

/** Draws the ids of a child span, or of the first span of a trace. */
export type ChildOf = (parent: SpanIds | undefined) => SpanIds;

/** The ids of a call's span; drawn on first use. */
export function contextOf(call: TracedCall, childOf: ChildOf): SpanContext {
  if (call.context === undefined) {
    const parent = parentOf(call.headers);
    call.context = { ids: childOf(parent), parent };
  }
  return call.context;
}

/** 32 hexadecimal digits. */
export function traceIdOf({ trace0, trace1, trace2, trace3 }: SpanIds): string {
  return [trace0, trace1, trace2, trace3]
    .map((piece) => (piece >>> 0).toString(16).padStart(8, '0'))
    .join('');
}
