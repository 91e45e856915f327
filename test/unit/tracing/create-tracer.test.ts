import { failure, StoreError } from '../../../src/core/errors';
import type { CallKind, PendingRequest } from '../../../src/core/ports';
import { createChildIds } from '../../../src/tracing/create-tracing';
import { createEpoch } from '../../../src/tracing/write-spans';
import { createTracer } from '../../../src/tracing/create-tracer';
import type { SpanRecord } from '../../../src/tracing/span-records';
import { createWriteSpan } from '../../../src/tracing/write-spans';
import { spansOrigin } from '../../../src/wire/otlp/shapes';
import { createSpanWriter } from '../../../src/wire/otlp/span-writer';
import { OK } from '../../support/transport-harness';
import { decodeSpans, type ReceivedSpan } from '../../support/otlp-messages';
import { recordingResponder } from '../../support/recording-responder';
import { request } from '../../support/requests';

const KIND: CallKind = {
  name: 'call',
  attributes: {},
  statusAttribute: 'status',
  statusOf: (answer) => (answer.kind === 'decision' ? 0 : 1),
};
const NO_HEADERS = { names: [], values: [] };

function start(samplingRate = 1, random = () => 0.5) {
  const records: SpanRecord[] = [];
  let nowMs = 1_000;
  let nextNumber = 1;
  const childOf = createChildIds((numbers) => {
    for (let i = 0; i < numbers.length; i++) numbers[i] = nextNumber++;
  });
  const tracer = createTracer(
    { add: (record) => records.push(record), monotonicMs: () => (nowMs += 0.25), random, childOf },
    { samplingRate },
  );
  const writer = createSpanWriter(spansOrigin({}, 'test'));
  const write = createWriteSpan(
    { writer, childOf, toUnixMs: (atMs) => atMs },
    { 'db.system.name': 'x' },
  );
  const ask = (isTraced: boolean): PendingRequest => ({
    request: request('shop', ['user=ann']),
    responder: recordingResponder(),
    callId: 0,
    trace: isTraced ? tracer.start(KIND, NO_HEADERS) : undefined,
  });
  /** What the records become. */
  const spans = (): readonly ReceivedSpan[] => {
    for (const record of records) write(record);
    return decodeSpans(writer.take());
  };
  return { spans, tracer, ask };
}

const named = (spans: readonly ReceivedSpan[], name: string) =>
  spans.filter((one) => one.name === name);
const linkTo = (span?: ReceivedSpan) => `${String(span?.traceId)}/${String(span?.spanId)}`;

const below = (span?: ReceivedSpan) => ({ traceId: span?.traceId, parentSpanId: span?.spanId });

describe('createTracer', () => {
  it('traces the share that is asked for where the caller decided nothing', () => {
    expect(start(0.51).tracer.start(KIND, NO_HEADERS)).toBeDefined();
    expect(start(0.5).tracer.start(KIND, NO_HEADERS)).toBeUndefined();
    expect(start(0).tracer.start(KIND, NO_HEADERS)).toBeUndefined();
  });

  it('follows no batch without a traced call', () => {
    const { tracer, ask } = start();
    expect(tracer.begin([])).toBeUndefined();
    expect(tracer.begin([ask(false), ask(false)])).toBeUndefined();
  });

  it('links the store batch to all its calls, and those of other traces back to it', () => {
    const { spans, tracer, ask } = start();
    const batch = tracer.begin([ask(false), ask(true), ask(true)]);
    batch?.matched(2);
    batch?.counted({ after: [1, 1], held: undefined, failures: undefined });
    batch?.answered([OK, OK, failure('store_timeout', 'too late')]);
    const all = spans();
    expect(all).toHaveLength(5);
    const [[first, second], [store]] = [named(all, 'call'), named(all, 'store batch')];
    expect(store).toMatchObject({
      ...below(first),
      links: [linkTo(first), linkTo(second)],
      attributes: { 'ratelimit.batch.requests': 3, 'db.operation.batch.size': 2 },
    });
    expect(first).toMatchObject({ links: [], statusCode: 0 });
    expect(second).toMatchObject({ links: [linkTo(store)], statusCode: 2 });
    expect(named(all, 'match')).toMatchObject([below(first), below(second)]);
    expect(new Set(all.map(({ spanId }) => spanId)).size).toBe(5);
  });

  it('bounds the links of a batch', () => {
    const { spans, tracer, ask } = start();
    const batch = tracer.begin(Array.from({ length: 200 }, () => ask(true)));
    batch?.counted(new StoreError('store_unavailable', 'away'));
    const [store] = spans();
    expect([store?.links.length, store?.droppedLinks]).toEqual([128, 72]);
    expect([store?.statusCode, store?.statusMessage]).toEqual([2, 'away']);
    expect(store?.attributes['error.type']).toBe('store_unavailable');
  });

  it('says how many increments failed on their own', () => {
    const { spans, tracer, ask } = start();
    const failures = new Map([[0, new StoreError('store_unavailable', 'away')]]);
    tracer.begin([ask(true)])?.counted({ after: [0], held: undefined, failures });
    expect(spans()[0]?.attributes['ratelimit.batch.failed']).toBe(1);
  });

  it('says what hits on lease answered, and has no store batch where that is all', () => {
    const { spans, tracer, ask } = start();
    const batch = tracer.begin([ask(true), ask(true)]);
    batch?.matched(3);
    const reply = { after: [1, 1, 1], held: undefined, failures: undefined };
    batch?.counted({ ...reply, leased: [true, false, true] });
    batch?.answered([OK, OK], [2, 0]);
    const some = spans();
    expect(named(some, 'store batch')).toMatchObject([
      { attributes: { 'db.operation.batch.size': 1, 'ratelimit.batch.leased': 2 } },
    ]);
    expect(named(some, 'call').map(({ attributes }) => [attributes['ratelimit.leased']])).toEqual([
      [2],
      [undefined],
    ]);
    const { spans: spansOfAll, ...all } = start();
    const whole = all.tracer.begin([all.ask(true), all.ask(true)]);
    whole?.matched(1);
    whole?.counted({ ...reply, leased: [true] });
    whole?.answered([OK, OK], [1, 1]);
    const names = spansOfAll().map(({ name, links }) => [name, links.length]);
    expect(names).toEqual([
      ['match', 0],
      ['match', 0],
      ['call', 0],
      ['call', 0],
    ]);
  });

  it('asks nothing twice of a header list that comes again', () => {
    const { tracer } = start(0);
    let looks = 0;
    const headers = {
      get names() {
        looks += 1;
        return ['te'];
      },
      values: ['trailers'],
    };
    for (let i = 0; i < 5; i++) tracer.start(KIND, headers);
    expect(looks).toBe(1);
  });
});

describe('createEpoch', () => {
  it('follows a step of the wall clock, and not its jitter', () => {
    let wall = 1_000_000;
    let monotonic = 5;
    const { toUnixMs, follow } = createEpoch(
      () => wall,
      () => monotonic,
    );
    monotonic += 10.25;
    wall += 10;
    follow();
    expect(toUnixMs(monotonic)).toBe(1_000_010.25);
    wall += 3_600_000;
    follow();
    expect(toUnixMs(monotonic)).toBe(wall);
  });

  it('knows the id of a trace before its spans are written', () => {
    const { tracer, ask, spans } = start();
    const pending = ask(true);
    const id = pending.trace?.traceId();
    tracer.begin([pending])?.answered([OK]);
    expect(named(spans(), 'call')).toMatchObject([{ traceId: id }]);
    expect(id).toMatch(/^[0-9a-f]{32}$/);
  });
});
