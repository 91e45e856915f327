import type { CallKind } from '../core/ports';
import { attributeKey, OtlpSpanKind, spanShape, type SpanIds } from '../wire/otlp/shapes';
import type { SpanWriter } from '../wire/otlp/span-writer';
import {
  type CallRecord,
  type MatchRecord,
  type SpanContext,
  type SpanRecord,
  type StoreRecord,
  type TracedCall,
  contextOf as toContext,
  type ChildOf,
} from './span-records';

interface WriteSpansDeps {
  readonly writer: SpanWriter;
  readonly childOf: ChildOf;
  readonly toUnixMs: (atMs: number) => number;
}

/** The parts that the spans of all calls of a kind share. */
interface CallTemplate {
  readonly template: Uint8Array;
  readonly statusKey: Uint8Array;
}

/** OpenTelemetry's own limit (OTEL_SPAN_LINK_COUNT_LIMIT). */
const MAX_LINKS = 128;

const KEY = {
  batchRequests: attributeKey('ratelimit.batch.requests'),
  batchSize: attributeKey('db.operation.batch.size'),
  batchFailed: attributeKey('ratelimit.batch.failed'),
  batchLeased: attributeKey('ratelimit.batch.leased'),
  domain: attributeKey('ratelimit.domain'),
  descriptors: attributeKey('ratelimit.descriptors'),
  limits: attributeKey('ratelimit.limits'),
  leased: attributeKey('ratelimit.leased'),
  code: attributeKey('ratelimit.code'),
  errorType: attributeKey('error.type'),
};

const MATCH = spanShape('match', OtlpSpanKind.internal, {});

/** Writes the span of a record. `store` has the attributes of the store for the spans of store batches. */
export function createWriteSpan(
  { writer, childOf, toUnixMs }: WriteSpansDeps,
  store: Readonly<Record<string, string>>,
): (record: SpanRecord) => void {
  // A store in this process is not a call to another.
  const storeKind = 'db.system.name' in store ? OtlpSpanKind.client : OtlpSpanKind.internal;
  const storeTemplate = spanShape('store batch', storeKind, store);
  const templates = new Map<CallKind, CallTemplate>();

  const contextOf = (call: TracedCall): SpanContext => toContext(call, childOf);
  const storeIdsOf = (batch: StoreRecord): SpanIds =>
    (batch.ids ??= childOf(contextOf(batch.calls[0] as TracedCall).ids));
  const templateOf = (kind: CallKind): CallTemplate => {
    const known = templates.get(kind);
    if (known !== undefined) return known;
    const template = toCallTemplate(kind);
    templates.set(kind, template);
    return template;
  };

  const writeCall = (record: CallRecord) => {
    const { call, domain } = record;
    const { ids, parent } = contextOf(call);
    const { template, statusKey } = templateOf(call.kind);
    writer.begin(template, ids, parent, toUnixMs(call.startMs), toUnixMs(record.endMs));
    writer.count(statusKey, record.status);
    if (domain !== undefined) {
      writer.text(KEY.domain, domain);
      writer.count(KEY.descriptors, record.descriptors);
    }
    if (record.isFailure) writer.text(KEY.errorType, record.code);
    else {
      writer.text(KEY.code, record.code);
      writer.count(KEY.limits, record.limits);
      if (record.leased > 0) writer.count(KEY.leased, record.leased);
    }
    if (record.store !== undefined) writer.link(storeIdsOf(record.store));
    writer.end(record.error);
  };

  const writeMatch = ({ call, startMs, endMs, requests }: MatchRecord) => {
    const { ids } = contextOf(call);
    writer.begin(MATCH, childOf(ids), ids, toUnixMs(startMs), toUnixMs(endMs));
    writer.count(KEY.batchRequests, requests);
    writer.end(undefined);
  };

  const writeStore = (record: StoreRecord) => {
    const { calls, startMs, endMs, failed, leased, errorType } = record;
    const parent = contextOf(calls[0] as TracedCall).ids;
    const links = Math.min(calls.length, MAX_LINKS);
    writer.begin(storeTemplate, storeIdsOf(record), parent, toUnixMs(startMs), toUnixMs(endMs));
    writer.count(KEY.batchRequests, record.requests);
    writer.count(KEY.batchSize, record.increments);
    if (errorType !== undefined) writer.text(KEY.errorType, errorType);
    if (failed !== undefined) writer.count(KEY.batchFailed, failed);
    if (leased !== undefined) writer.count(KEY.batchLeased, leased);
    for (let i = 0; i < links; i++) writer.link(contextOf(calls[i] as TracedCall).ids);
    if (calls.length > links) writer.droppedLinks(calls.length - links);
    writer.end(record.error);
  };

  return (record) => {
    if (record.span === 'call') writeCall(record);
    else if (record.span === 'match') writeMatch(record);
    else writeStore(record);
  };
}

function toCallTemplate({ name, attributes, statusAttribute }: CallKind): CallTemplate {
  return {
    template: spanShape(name, OtlpSpanKind.server, attributes),
    statusKey: attributeKey(statusAttribute),
  };
}

/** A larger step of the wall clock is followed; a smaller one is its usual slewing. */
const STEP_MS = 50;

/**
 * Converts monotonic milliseconds to Unix milliseconds with a fraction: the wall clock alone counts whole milliseconds, and a span
 * lasts some hundredths of one. `follow` adopts a wall clock that was set.
 */
export function createEpoch(wallMs: () => number, monotonicMs: () => number) {
  let offsetMs = wallMs() - monotonicMs();
  return {
    toUnixMs: (atMs: number) => atMs + offsetMs,
    follow: () => {
      const offset = wallMs() - monotonicMs();
      if (Math.abs(offset - offsetMs) > STEP_MS) offsetMs = offset;
    },
  };
}
