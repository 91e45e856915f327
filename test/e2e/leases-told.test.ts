import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../support/edge/eventually';
import { startHttpCollector, type Collector } from '../support/otlp-collector';
import { readStatistics } from '../support/read-statistics';
import { startRedisServer } from '../support/edge/redis-server';
import { createTemporaryDirectory } from '../support/rule-directory';
import { startService, stopServices, type Service } from '../support/edge/service';

const RULES = `domain: shop
descriptors:
  - { key: hot, rate_limit: { unit: year, requests_per_unit: 1000, leased: true } }
  - { key: cold, rate_limit: { unit: year, requests_per_unit: 1000 } }
`;

const ends: (() => unknown)[] = [];
afterEach(async () => {
  await stopServices();
  for (const end of ends.splice(0).reverse()) await end();
});

const requestOf = (keys: readonly string[], hits?: number) =>
  JSON.stringify({
    domain: 'shop',
    descriptors: keys.map((key) => ({ entries: [{ key, value: 'one' }], hitsAddend: hits })),
  });

async function ask({ http }: Service, keys: readonly string[], hits?: number): Promise<void> {
  const response = await fetch(`${http}/json`, { method: 'POST', body: requestOf(keys, hits) });
  await response.text();
  expect(response.status).toBe(200);
}

const spansOf = ({ spans }: Collector, name: string) => spans.filter((span) => span.name === name);

it('decision log, traces, statistics and explain say what came from a lease', async () => {
  const redis = await startRedisServer();
  ends.push(() => redis.stop());
  const collector = await startHttpCollector();
  ends.push(() => collector.stop());
  const directory = createTemporaryDirectory();
  directory.write('config/shop.yaml', RULES);
  ends.push(() => {
    directory.remove();
  });
  const log = join(directory.path, 'decisions');
  const service = await startService({
    waitUntilUp: 'connected',
    env: {
      ...{ BACKEND_TYPE: 'redis', REDIS_URL: `127.0.0.1:${String(redis.port)}` },
      ...{ RUNTIME_ROOT: directory.path, RUNTIME_WATCH_ROOT: 'false', LEASE_TIME: '10s' },
      ...{ DECISION_LOG: 'all', DECISION_LOG_SAMPLE: '1', DECISION_LOG_FILE: log },
      ...{ TRACING_ENABLED: 'true', TRACING_SAMPLING_RATE: '1', OTEL_BSP_SCHEDULE_DELAY: '50' },
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${String(collector.port)}`,
    },
  });
  // The first says how warm the counter is, the second brings a lease, the others are answered from it.
  await ask(service, ['hot'], 60);
  await ask(service, ['hot']);
  await ask(service, ['hot']);
  await ask(service, ['hot', 'cold']);

  const explain = await fetch(`${service.debug}/api/v1/explain?format=text`, {
    ...{ method: 'POST', headers: { 'Content-Type': 'application/json' } },
    body: requestOf(['hot']),
  });
  const text = await explain.text();
  expect(text).toMatch(
    /counter shop_hot_one_\d+ in Redis .+: count 122, .+: 59 of 61 are left here/,
  );
  expect(text).toContain('for 1 more: OK, remaining 936');
  await eventually(async () => {
    const statistics = await readStatistics(service);
    expect(statistics.get('ratelimit.leases.spent')).toBe(2);
    expect(statistics.get('ratelimit.leases.granted')).toBe(61);
  });
  await eventually(() => {
    expect(spansOf(collector, 'POST /json')).toHaveLength(4);
  });
  await service.stop();
  const lines = readFileSync(log, 'utf8').trim().split('\n');
  expect(lines.map((line) => (JSON.parse(line) as { leased?: unknown }).leased)).toEqual([
    ...[undefined, undefined],
    [true],
    [true, false],
  ]);
  const leased = spansOf(collector, 'POST /json').map(
    ({ attributes }) => attributes['ratelimit.leased'],
  );
  expect(leased).toEqual([undefined, undefined, 1, 1]);
  const batches = spansOf(collector, 'store batch').map(({ attributes }) => [
    attributes['db.operation.batch.size'],
    attributes['ratelimit.batch.leased'],
  ]);
  expect(batches).toEqual([
    [1, undefined],
    [1, undefined],
    [1, 1],
  ]);
});
