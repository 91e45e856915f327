import { StoreError } from '../core/errors';
import type { DecisionRequest } from '../core/model';
import type { Answer, CallKind, CallTrace, CounterReply } from '../core/ports';
import { attributeKey, OtlpSpanKind, spanShape } from '../wire/otlp/shapes';
import type { SpanIds } from '../wire/otlp/span-ids';
import type { SpanWriter } from '../wire/otlp/span-writer';

/** What all calls of a kind have in common. */
export interface CallShape {
  readonly shape: Uint8Array;
  readonly statusKey: Uint8Array;
  readonly statusOf: (answer: Answer) => number;
}

/** A call from its headers to its answer. */
export interface TracedCall extends CallTrace {
  readonly shape: CallShape;
  readonly ids: SpanIds;
  readonly parent: SpanIds | undefined;
  /** Unix milliseconds with fraction. */
  readonly startMs: number;
}

/** OpenTelemetry's own limit (OTEL_SPAN_LINK_COUNT_LIMIT). */
const MAX_LINKS = 128;

const KEY = {
  batchRequests: attributeKey('ratelimit.batch.requests'),
  batchSize: attributeKey('db.operation.batch.size'),
  batchFailed: attributeKey('ratelimit.batch.failed'),
  domain: attributeKey('ratelimit.domain'),
  descriptors: attributeKey('ratelimit.descriptors'),
  limits: attributeKey('ratelimit.limits'),
  code: attributeKey('ratelimit.code'),
  errorType: attributeKey('error.type'),
};

const MATCH = spanShape('match', OtlpSpanKind.internal, {});

export function callShape({ name, attributes, statusAttribute, statusOf }: CallKind): CallShape {
  return {
    shape: spanShape(name, OtlpSpanKind.server, attributes),
    statusKey: attributeKey(statusAttribute),
    statusOf,
  };
}

/** What the spans of store batches have in common; a store in this process is called by nobody. */
export function storeShape(attributes: Readonly<Record<string, string>>): Uint8Array {
  const isClient = 'db.system.name' in attributes;
  const kind = isClient ? OtlpSpanKind.client : OtlpSpanKind.internal;
  return spanShape('store batch', kind, attributes);
}

/** The span of a call. Never a value of a descriptor: it may be a person's. */
export function writeCall(
  writer: SpanWriter,
  { shape, ids, parent, startMs }: TracedCall,
  endMs: number,
  answer: Answer,
  request: DecisionRequest | undefined,
  storeIds: SpanIds | undefined,
): void {
  writer.begin(shape.shape, ids, parent, startMs, endMs);
  writer.count(shape.statusKey, shape.statusOf(answer));
  if (request !== undefined) {
    writer.text(KEY.domain, request.domain);
    writer.count(KEY.descriptors, request.descriptors.length);
  }
  if (answer.kind === 'failure') writer.text(KEY.errorType, answer.code);
  else {
    writer.text(KEY.code, answer.overallCode);
    writer.count(KEY.limits, limitsOf(answer.statuses));
  }
  if (storeIds !== undefined) writer.link(storeIds);
  writer.end(errorOf(answer));
}

/** How many descriptors have a limit. */
function limitsOf(statuses: readonly { readonly currentLimit: unknown }[]): number {
  let limits = 0;
  for (const { currentLimit } of statuses) if (currentLimit !== undefined) limits += 1;
  return limits;
}

/** A request that makes no sense is its caller's error, not the service's. */
function errorOf(answer: Answer): string | undefined {
  return answer.kind === 'failure' && answer.code !== 'invalid_request'
    ? answer.message
    : undefined;
}

export function writeMatch(
  writer: SpanWriter,
  ids: SpanIds,
  parent: SpanIds,
  startMs: number,
  endMs: number,
  requests: number,
): void {
  writer.begin(MATCH, ids, parent, startMs, endMs);
  writer.count(KEY.batchRequests, requests);
  writer.end(undefined);
}

/** What is known of a batch that went to the store. */
export interface StoreBatch {
  readonly ids: SpanIds;
  readonly startMs: number;
  readonly endMs: number;
  readonly requests: number;
  readonly increments: number;
  readonly reply: CounterReply | StoreError;
}

/** The span of a store batch, below the first of the calls that it serves and linked to all. */
export function writeStoreBatch(
  writer: SpanWriter,
  shape: Uint8Array,
  { ids, startMs, endMs, requests, increments, reply }: StoreBatch,
  calls: readonly TracedCall[],
): void {
  writer.begin(shape, ids, calls[0]?.ids, startMs, endMs);
  writer.count(KEY.batchRequests, requests);
  writer.count(KEY.batchSize, increments);
  const isError = reply instanceof StoreError;
  if (isError) writer.text(KEY.errorType, reply.code);
  else if (reply.failures !== undefined) writer.count(KEY.batchFailed, reply.failures.size);
  const links = Math.min(calls.length, MAX_LINKS);
  for (let i = 0; i < links; i++) writer.link((calls[i] as TracedCall).ids);
  if (calls.length > links) writer.droppedLinks(calls.length - links);
  writer.end(isError ? reply.message : undefined);
}
