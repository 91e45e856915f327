import type { CallKind } from '../core/ports';
import { attributeKey, OtlpSpanKind, spanShape } from '../wire/otlp/shapes';
import type { SpanIds } from '../wire/otlp/span-ids';
import type { SpanWriter } from '../wire/otlp/span-writer';
import { parentOf } from './parent';
import type {
  CallRecord,
  MatchRecord,
  Place,
  SpanRecord,
  StoreRecord,
  TracedCall,
} from './span-records';

interface WriteSpansDeps {
  readonly writer: SpanWriter;
  readonly childOf: (parent: SpanIds | undefined) => SpanIds;
  readonly toUnixMs: (atMs: number) => number;
}

/** What the spans of all calls of a kind have in common. */
interface CallShape {
  readonly shape: Uint8Array;
  readonly statusKey: Uint8Array;
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

/** Writes the span of a record. `store` is what the spans of store batches say of the store. */
export function createWriteSpan(
  { writer, childOf, toUnixMs }: WriteSpansDeps,
  store: Readonly<Record<string, string>>,
): (record: SpanRecord) => void {
  // A store in this process is called by nobody.
  const storeKind = 'db.system.name' in store ? OtlpSpanKind.client : OtlpSpanKind.internal;
  const storeShape = spanShape('store batch', storeKind, store);
  const shapes = new Map<CallKind, CallShape>();

  const placeOf = (call: TracedCall): Place => {
    if (call.place === undefined) {
      const parent = parentOf(call.headers);
      call.place = { ids: childOf(parent), parent };
    }
    return call.place;
  };
  const storeIdsOf = (batch: StoreRecord): SpanIds =>
    (batch.ids ??= childOf(placeOf(batch.calls[0] as TracedCall).ids));
  const shapeOf = (kind: CallKind): CallShape => {
    const known = shapes.get(kind);
    if (known !== undefined) return known;
    const shape = toCallShape(kind);
    shapes.set(kind, shape);
    return shape;
  };

  const writeCall = (record: CallRecord) => {
    const { call, domain } = record;
    const { ids, parent } = placeOf(call);
    const { shape, statusKey } = shapeOf(call.kind);
    writer.begin(shape, ids, parent, toUnixMs(call.startMs), toUnixMs(record.endMs));
    writer.count(statusKey, record.status);
    if (domain !== undefined) {
      writer.text(KEY.domain, domain);
      writer.count(KEY.descriptors, record.descriptors);
    }
    if (record.isFailure) writer.text(KEY.errorType, record.code);
    else {
      writer.text(KEY.code, record.code);
      writer.count(KEY.limits, record.limits);
    }
    if (record.store !== undefined) writer.link(storeIdsOf(record.store));
    writer.end(record.error);
  };

  const writeMatch = ({ call, startMs, endMs, requests }: MatchRecord) => {
    const { ids } = placeOf(call);
    writer.begin(MATCH, childOf(ids), ids, toUnixMs(startMs), toUnixMs(endMs));
    writer.count(KEY.batchRequests, requests);
    writer.end(undefined);
  };

  const writeStore = (record: StoreRecord) => {
    const { calls, startMs, endMs, failed, errorType } = record;
    const parent = placeOf(calls[0] as TracedCall).ids;
    const links = Math.min(calls.length, MAX_LINKS);
    writer.begin(storeShape, storeIdsOf(record), parent, toUnixMs(startMs), toUnixMs(endMs));
    writer.count(KEY.batchRequests, record.requests);
    writer.count(KEY.batchSize, record.increments);
    if (errorType !== undefined) writer.text(KEY.errorType, errorType);
    if (failed !== undefined) writer.count(KEY.batchFailed, failed);
    for (let i = 0; i < links; i++) writer.link(placeOf(calls[i] as TracedCall).ids);
    if (calls.length > links) writer.droppedLinks(calls.length - links);
    writer.end(record.error);
  };

  return (record) => {
    if (record.span === 'call') writeCall(record);
    else if (record.span === 'match') writeMatch(record);
    else writeStore(record);
  };
}

function toCallShape({ name, attributes, statusAttribute }: CallKind): CallShape {
  return {
    shape: spanShape(name, OtlpSpanKind.server, attributes),
    statusKey: attributeKey(statusAttribute),
  };
}
