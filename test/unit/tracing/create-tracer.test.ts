import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { failure, StoreError } from '../../../src/core/errors';
import type { CallKind, Question } from '../../../src/core/ports';
import { createEpoch } from '../../../src/tracing/epoch';
import { createSpanSink } from '../../../src/tracing/span-sink';
import { createTracer } from '../../../src/tracing/create-tracer';
import { OK } from '../../contract/transport.harness';
import { recordingAsker } from '../../support/recording-asker';
import { request } from '../../support/requests';

const KIND: CallKind = {
  name: 'call',
  attributes: {},
  statusAttribute: 'status',
  statusOf: (answer) => (answer.kind === 'decision' ? 0 : 1),
};
const NO_HEADERS = { names: [], values: [] };

function start(samplingRate = 1, random = () => 0.5) {
  const spans: ReadableSpan[] = [];
  let nowMs = 1_000;
  const sink = createSpanSink({
    resource: resourceFromAttributes({}),
    exportSpan: (span) => spans.push(span),
    epochMs: () => (nowMs += 0.25),
  });
  const tracer = createTracer({ sink, random }, { samplingRate, store: { 'db.system.name': 'x' } });
  const ask = (isTraced: boolean): Question => ({
    request: request('shop', ['user=ann']),
    asker: recordingAsker(),
    ticket: 0,
    trace: isTraced ? tracer.start(KIND, NO_HEADERS) : undefined,
  });
  return { spans, tracer, ask, named: (name: string) => spans.filter((one) => one.name === name) };
}

const idOf = (span?: ReadableSpan) => span?.spanContext().spanId;
const linksOf = (span?: ReadableSpan) => span?.links.map(({ context }) => context.spanId);

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
    const { spans, tracer, ask, named } = start();
    const batch = tracer.begin([ask(false), ask(true), ask(true)]);
    batch?.matched(2);
    batch?.counted({ after: [1, 1], held: undefined, failures: undefined });
    batch?.answered([OK, OK, failure('store_timeout', 'too late')]);
    expect(spans).toHaveLength(5);
    const [first, second] = named('call');
    const [store] = named('store batch');
    expect(linksOf(store)).toEqual([idOf(first), idOf(second)]);
    expect(store?.parentSpanContext?.spanId).toBe(idOf(first));
    expect(linksOf(first)).toEqual([]);
    expect(linksOf(second)).toEqual([idOf(store)]);
    expect(named('call').map(({ status }) => status.code)).toEqual([0, 2]);
    expect(store?.attributes).toMatchObject({ 'ratelimit.batch.requests': 3 });
  });

  it('bounds the links of a batch', () => {
    const { tracer, ask, named } = start();
    const batch = tracer.begin(Array.from({ length: 200 }, () => ask(true)));
    batch?.counted(new StoreError('store_unavailable', 'away'));
    const [store] = named('store batch');
    expect([store?.links.length, store?.droppedLinksCount]).toEqual([128, 72]);
    expect(store?.status).toEqual({ code: 2, message: 'away' });
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
    const epoch = createEpoch(
      () => wall,
      () => monotonic,
    );
    monotonic += 10.25;
    wall += 10;
    expect(epoch()).toBe(1_000_010.25);
    wall += 3_600_000;
    expect(epoch()).toBe(wall);
  });
});
