import { version } from '../../package.json';
import { callWithHeaders } from '../support/edge/call-with-headers';
import { startStopwatch } from '../support/edge/core-time';
import { expectFigure } from '../support/edge/figure';
import { eventually } from '../support/edge/eventually';
import { freePort } from '../support/free-port';
import { startGrpcCollector, startHttpCollector, type Collector } from '../support/otlp-collector';
import type { ReceivedSpan } from '../support/otlp-messages';
import { startRedisServer } from '../support/edge/redis-server';
import {
  startService,
  stopServices,
  type Service,
  type ServiceOptions,
} from '../support/edge/service';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';
const REQUEST = {
  domain: 'example',
  descriptors: [{ entries: [{ key: 'remote_address', value: '10.9.8.7' }] }],
};
const sampled = { traceparent: `00-${TRACE}-${SPAN}-01`, tracestate: 'shop=1' };
const GRPC_NAME = 'envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit';

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await stopServices();
  for (const end of ends.splice(0)) await end();
});

async function startCollector(protocol: 'http' | 'grpc'): Promise<Collector> {
  const collector = await (protocol === 'http' ? startHttpCollector() : startGrpcCollector());
  ends.push(() => collector.stop());
  return collector;
}

function startTraced(
  port: number,
  env: Readonly<Record<string, string>> = {},
  waitUntilUp: ServiceOptions['waitUntilUp'] = true,
): Promise<Service> {
  return startService({
    waitUntilUp,
    env: {
      TRACING_ENABLED: 'true',
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${String(port)}`,
      OTEL_BSP_SCHEDULE_DELAY: '50',
      BACKEND_TYPE: 'memory',
      ...env,
    },
  });
}

async function postJson(
  { http }: Service,
  headers: Readonly<Record<string, string>> = {},
  body: string = JSON.stringify(REQUEST),
): Promise<number> {
  const response = await fetch(`${http}/json`, { method: 'POST', body, headers });
  await response.text();
  return response.status;
}

function named({ spans }: Collector, name: string) {
  return spans.filter((span) => span.name === name);
}

/** Match and store follow each other within the call, which is now. */
function expectInOrder(call?: ReceivedSpan, match?: ReceivedSpan, store?: ReceivedSpan): void {
  const order = [call?.startNanos, match?.startNanos, store?.startNanos, store?.endNanos];
  expect(order).toEqual(order.toSorted((a = 0n, b = 0n) => Number(a - b)));
  expect(call?.endNanos).toBeGreaterThanOrEqual(store?.endNanos ?? 0n);
  const startMs = Number((call?.startNanos ?? 0n) / 1_000_000n);
  expect(Math.abs(startMs - Date.now())).toBeLessThan(20_000);
}

describe('the traces of the built service', () => {
  it.each(['http', 'grpc'] as const)(
    'reach a collector over OTLP/%s: the call, the match and the store batch of its trace',
    async (protocol) => {
      const redis = await startRedisServer();
      ends.push(() => redis.stop());
      const collector = await startCollector(protocol);
      const service = await startTraced(
        collector.port,
        {
          BACKEND_TYPE: 'redis',
          REDIS_URL: `127.0.0.1:${String(redis.port)}`,
          TRACING_EXPORTER_PROTOCOL: protocol,
          TRACING_SERVICE_NAME: 'limits',
          TRACING_SERVICE_NAMESPACE: 'edge',
          TRACING_SERVICE_INSTANCE_ID: 'one',
          OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment=test,service.name=not-this',
          OTEL_EXPORTER_OTLP_HEADERS: 'x-api-key=s%20cret',
          OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
        },
        'connected',
      );
      expect(await callWithHeaders(service.grpc, REQUEST, sampled)).toBe(0);
      await eventually(() => {
        expect(collector.spans).toHaveLength(3);
      });
      const [call] = named(collector, GRPC_NAME);
      const [match] = named(collector, 'match');
      const [store] = named(collector, 'store batch');
      expect(call).toMatchObject({
        traceId: TRACE,
        parentSpanId: SPAN,
        traceState: 'shop=1',
        kind: 2,
        statusCode: 0,
        attributes: {
          'rpc.system': 'grpc',
          'rpc.method': 'ShouldRateLimit',
          'rpc.grpc.status_code': 0,
          'ratelimit.domain': 'example',
          'ratelimit.descriptors': 1,
          'ratelimit.limits': 1,
          'ratelimit.code': 'OK',
        },
        resource: {
          'service.name': 'limits',
          'service.namespace': 'edge',
          'service.instance.id': 'one',
          'service.version': version,
          'deployment.environment': 'test',
        },
      });
      const below = { traceId: TRACE, parentSpanId: call?.spanId };
      expect(match).toMatchObject({ ...below, kind: 1 });
      expect(store).toMatchObject({
        ...below,
        kind: 3,
        attributes: { 'db.system.name': 'redis', 'db.operation.batch.size': 1 },
        links: [`${TRACE}/${String(call?.spanId)}`],
      });
      expect(JSON.stringify(collector.spans, (_, value: unknown) => String(value))).not.toContain(
        '10.9.8.7',
      );
      expectInOrder(call, match, store);
      expect(collector.headers[0]).toMatchObject({ 'x-api-key': 's cret' });
      expect(service.output()).not.toContain('cret');
    },
  );

  const B3 = { 'x-b3-traceid': TRACE, 'x-b3-spanid': SPAN, 'x-b3-sampled': '1' };
  const carriers: [string, Readonly<Record<string, string>>][] = [
    ['traceparent', sampled],
    ['b3', { b3: `${TRACE}-${SPAN}-1` }],
    ['x-b3-*', B3],
  ];
  const entrances = ['wire', 'grpc-js', 'json'] as const;

  it.each(entrances)('belong to the trace of the caller, whatever carries it: %s', async (way) => {
    const collector = await startCollector('http');
    const engine = way === 'grpc-js' ? 'grpc-js' : 'wire';
    const service = await startTraced(collector.port, {
      GRPC_TRANSPORT: engine,
      TRACING_SAMPLING_RATE: '0',
    });
    const ask = async (headers: Readonly<Record<string, string>>) => {
      if (way === 'json') expect(await postJson(service, headers)).toBe(200);
      else expect(await callWithHeaders(service.grpc, REQUEST, headers)).toBe(0);
    };
    await ask({});
    await ask({ traceparent: `00-${TRACE}-${SPAN}-00` });
    await ask({ b3: '0' });
    for (const [, headers] of carriers) await ask(headers);
    const name = way === 'json' ? 'POST /json' : GRPC_NAME;
    await eventually(() => {
      expect(named(collector, name)).toHaveLength(carriers.length);
    });
    await service.stop();
    const calls = named(collector, name);
    expect(calls.map((call) => [call.traceId, call.parentSpanId])).toEqual(
      carriers.map(() => [TRACE, SPAN]),
    );
    expect(named(collector, 'store batch').map(({ kind }) => kind)).toEqual([1, 1, 1]);
  });

  it('begin here where the caller has none, for the share that is asked for', async () => {
    const collector = await startCollector('http');
    const service = await startTraced(collector.port, { TRACING_SAMPLING_RATE: '0.5' });
    const asked = 200;
    for (let i = 0; i < asked; i += 20)
      await Promise.all(Array.from({ length: 20 }, () => postJson(service)));
    expect(await service.stop()).toBe(0);
    const calls = named(collector, 'POST /json');
    // 99.99 % of all binomial draws.
    expect(Math.abs(calls.length - asked / 2)).toBeLessThan(35);
    expect(new Set(calls.map(({ traceId }) => traceId)).size).toBe(calls.length);
    expect(calls.every(({ parentSpanId }) => parentSpanId === '')).toBe(true);
    expect(calls[0]?.resource['service.instance.id']).toMatch(/^[\da-f]{8}-[\da-f]{4}-4/);
    expect(calls[0]?.resource['service.name']).toBe('RateLimit');
  });

  it('say what went wrong: a store that is away, a request that makes no sense', async () => {
    const collector = await startCollector('http');
    const env = { BACKEND_TYPE: 'redis', REDIS_URL: `127.0.0.1:${String(await freePort())}` };
    const service = await startTraced(collector.port, env, 'answering');
    expect(await callWithHeaders(service.grpc, REQUEST)).toBe(14);
    expect(await callWithHeaders(service.grpc, { domain: '' })).toBe(3);
    expect(await postJson(service, {}, '{')).toBe(400);
    await service.stop();
    const [away, senseless] = named(collector, GRPC_NAME);
    expect(away).toMatchObject({
      statusCode: 2,
      attributes: { 'error.type': 'store_unavailable', 'rpc.grpc.status_code': 14 },
    });
    expect(senseless).toMatchObject({
      statusCode: 0,
      attributes: { 'error.type': 'invalid_request', 'rpc.grpc.status_code': 3 },
    });
    expect(named(collector, 'POST /json')[0]?.attributes['http.response.status_code']).toBe(400);
    expect(named(collector, 'store batch')[0]).toMatchObject({
      statusCode: 2,
      attributes: { 'error.type': 'store_unavailable' },
    });
  });

  it('are lost, with one warning, while the collector is away, and come again', async () => {
    const port = await freePort();
    const service = await startTraced(port, {
      OTEL_EXPORTER_OTLP_TIMEOUT: '1000',
      LOG_LEVEL: 'info',
    });
    await postJson(service);
    await eventually(() => {
      expect(service.output()).toContain('traces do not reach the collector');
    });
    await postJson(service);
    const collector = await startHttpCollector({ port });
    ends.push(() => collector.stop());
    await eventually(async () => {
      await postJson(service);
      expect(service.output()).toContain('reach the collector at 127.0.0.1');
      expect(collector.spans.length).toBeGreaterThan(0);
    });
    expect(service.output().match(/do not reach/g)).toHaveLength(1);
    const stats = await (await fetch(`${service.debug}/stats`)).text();
    expect(stats).toMatch(/^ratelimit\.tracing\.spans_failed: [1-9]/m);
  });

  it.each(['http', 'grpc'] as const)(
    'delay neither a decision nor the stop while a collector hangs: %s',
    async (protocol) => {
      const collector = await startCollector(protocol);
      collector.hang();
      const service = await startTraced(collector.port, {
        TRACING_EXPORTER_PROTOCOL: protocol,
        OTEL_BSP_SCHEDULE_DELAY: '1',
        OTEL_BSP_MAX_QUEUE_SIZE: '100',
      });
      // Nine times as many spans as the queue takes.
      for (let i = 0; i < 15; i++)
        await Promise.all(Array.from({ length: 20 }, () => postJson(service)));
      const elapsedMs = startStopwatch(service.child);
      await postJson(service);
      expectFigure({ name: 'answer', value: elapsedMs(), unit: 'ms', below: 1_000 });
      const stats = await (await fetch(`${service.debug}/stats`)).text();
      expect(stats).toMatch(/^ratelimit\.tracing\.spans_dropped: [1-9]/m);
      expect(await service.stop()).toBe(0);
      expectFigure({ name: 'stop', value: elapsedMs(), unit: 'ms', below: 5_000 });
      expect(collector.spans).toHaveLength(0);
    },
  );

  it.each([
    [
      { TRACING_EXPORTER_PROTOCOL: 'zipkin' },
      'TRACING_EXPORTER_PROTOCOL="zipkin": expected one of',
    ],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' }, 'OTEL_EXPORTER_OTLP_ENDPOINT="collector'],
    [
      { OTEL_BSP_MAX_QUEUE_SIZE: 'many' },
      'OTEL_BSP_MAX_QUEUE_SIZE="many": expected a whole number',
    ],
    [
      { OTEL_EXPORTER_OTLP_CERTIFICATE: '/no/such' },
      'OTEL_EXPORTER_OTLP_CERTIFICATE="/no/such": cannot read the file: it does not exist',
    ],
    [
      {
        OTEL_EXPORTER_OTLP_CERTIFICATE: '/etc/hostname',
        OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE: '/no/such',
      },
      'OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE="/no/such": cannot read the file: it does not exist',
    ],
  ])('stop the start where a setting is wrong: %j', async (env, problem) => {
    const service = await startService({
      env: { TRACING_ENABLED: 'true', BACKEND_TYPE: 'memory', ...env },
      waitUntilUp: false,
    });
    await eventually(() => {
      expect(service.child.exitCode).toBe(1);
      expect(service.output()).toContain(problem);
    });
  });
});
