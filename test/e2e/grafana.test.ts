import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { shouldRateLimit } from '../../src/cli/call';
import { createAuthority } from '../support/certificates';
import { temporaryRules } from '../support/dashboard-rules';
import { eventually } from '../support/eventually';
import { freePort } from '../support/free-port';
import { startMemcachedServer } from '../support/memcached-server';
import { startPrometheus } from '../support/prometheus';
import { startRedisServer } from '../support/redis-server';
import { ask, startService, stopServices } from '../support/service';

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: {
    readonly h: number;
    readonly w: number;
    readonly x: number;
    readonly y: number;
  };
  readonly fieldConfig?: {
    readonly defaults: {
      readonly unit?: string;
      readonly thresholds?: { readonly steps: readonly object[] };
    };
  };
  readonly targets?: readonly { readonly expr: string; readonly legendFormat?: string }[];
}

interface Dashboard {
  readonly panels: readonly Panel[];
  readonly templating: {
    readonly list: readonly { readonly name: string; readonly definition?: string }[];
  };
}

const dashboard = JSON.parse(
  readFileSync(join(__dirname, '../../examples/grafana/weir.json'), 'utf8'),
) as Dashboard;

/** Metrics that a healthy service need not have, and why. */
const MAY_BE_ABSENT: Readonly<Record<string, string>> = {
  ratelimit_memcache_multiget___code_error: 'begins with the first question that a node fails',
  ratelimit_memcache_increment___code_error: 'begins with the first hit that is lost',
  ratelimit_memcache_add___code_error: 'begins with the first counter that is not made',
  ratelimit_memory_evictions: 'begins when there is no room for a counter',
  ratelimit_memory_refused: 'begins when there is no room for a counter',
  ratelimit_service_certificate_load_error: 'begins with the first unusable certificate',
  ratelimit_server_tls_handshake_error: 'begins with the first client that TLS refuses',
  ratelimit_connections_ended_unread: 'begins with the first client that does not read',
  nodejs_gc_duration_seconds_sum: 'begins with the first garbage collection',
};
/** Labels that a series of a legend need not have: rules of one level have no second key. */
const OPTIONAL_LABEL = 'key2';

const { groups } = parse(
  readFileSync(join(__dirname, '../../deploy/prometheus/alerts.yaml'), 'utf8'),
) as { readonly groups: readonly { readonly rules: readonly { readonly expr: string }[] }[] };
/** What alerts select: their comparisons have no result while nothing is wrong. */
const selectors = groups
  .flatMap(({ rules }) => rules)
  .flatMap(({ expr }) =>
    [
      ...expr.matchAll(/\b(?:ratelimit|weir|nodejs|process)_\w+(?:\{[^}]*\})?|\{__name__[^}]*\}/g),
    ].map(([selector]) => selector),
  );

const queries = [
  ...dashboard.panels.flatMap(({ targets = [] }) =>
    targets.map(({ expr, legendFormat = '' }) => ({
      expr,
      labels: [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label),
    })),
  ),
  ...dashboard.templating.list.flatMap(({ definition = '' }) => {
    const [, expr, label] = /^label_values\((.*), (\w+)\)$/.exec(definition) ?? [];
    return expr === undefined || label === undefined ? [] : [{ expr, labels: [label] }];
  }),
  ...selectors.map((expr) => ({ expr, labels: [] })),
];

/** As Grafana does when everything is chosen, in steps of this fast scrape; `.+` finds only labels that exist. */
const filledIn = (expr: string) =>
  expr
    .replaceAll('$__rate_interval:15s', '20s:1s')
    .replaceAll('$__rate_interval', '20s')
    .replaceAll(/\$\w+(?=")/g, '.+');

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await stopServices();
  for (const end of ends.splice(0)) await end();
});

async function startScraped(env: Readonly<Record<string, string>>) {
  const port = await freePort();
  const service = await startService({
    waitUntilUp: env['BACKEND_TYPE'] === 'memory' ? true : 'connected',
    env: {
      DISABLE_STATS: 'false',
      USE_PULLMETRICS: 'true',
      PULLMETRICS_ADDR: `127.0.0.1:${String(port)}`,
      ...env,
    },
  });
  return { service, port };
}

/** An instance on Redis with everything that it can have, one of two workers on memcached, one in memory with TLS. */
async function startFleet() {
  const redis = await startRedisServer();
  ends.push(() => redis.stop());
  const memcached = await startMemcachedServer();
  ends.push(() => memcached.stop());
  const authority = createAuthority();
  ends.push(() => rm(authority.directory, { recursive: true }));
  const { certFile, keyFile } = authority.issue('weir');
  const example = readFileSync(join(__dirname, '../../examples/config/example.yaml'), 'utf8');
  const rules = await temporaryRules([example]);
  ends.push(() => rm(rules.folder, { recursive: true }));
  const redisUrl = `127.0.0.1:${String(redis.port)}`;
  const onRedis = await startScraped({
    ...rules.env,
    KVSTORE_URL: redisUrl,
    KVSTORE_PERSECOND: 'true',
    KVSTORE_PERSECOND_URL: redisUrl,
    LOCAL_CACHE_SIZE_IN_BYTES: '1000000',
  });
  const onMemcached = await startScraped({
    BACKEND_TYPE: 'memcache',
    WORKERS: '2',
    MEMSTORE_HOST_PORT: `127.0.0.1:${String(memcached.port)}`,
  });
  const inMemory = await startScraped({
    BACKEND_TYPE: 'memory',
    GRPC_SERVER_USE_TLS: 'true',
    GRPC_SERVER_TLS_CERT: certFile,
    GRPC_SERVER_TLS_KEY: keyFile,
  });
  return { redis, rules, onRedis, onMemcached, inMemory };
}

it('has only queries that a real scrape of every store has series and labels for', async () => {
  const { redis, rules, onRedis, onMemcached, inMemory } = await startFleet();
  // More than the limit of a rule in shadow mode: within, near, over and shadow all count.
  await shouldRateLimit({
    dialString: onRedis.service.grpc,
    domain: 'example',
    descriptors: [{ entries: [{ key: 'api_key', value: 'team' }] }],
    hitsAddend: 1_500,
    timeoutMs: 5_000,
    json: false,
    tls: undefined,
  });
  await ask(onMemcached.service, 'example', 'api_key=a');
  await ask(onMemcached.service, 'example', 'api_key=a');
  for (const { service } of [onRedis, inMemory]) {
    await ask(service, 'elsewhere', 'user=ann');
    await ask(service, 'example', 'nobody=knows');
    await ask(service, 'example', 'try=it');
  }
  await rules.write('domain: [');
  await redis.client.call('client', 'kill', 'type', 'normal');
  const prometheus = await startPrometheus(onRedis.port, onMemcached.port, inMemory.port);
  ends.push(() => prometheus.stop());

  expect(queries.length).toBeGreaterThan(50);
  let open = queries;
  await eventually(
    async () => {
      const missing: typeof queries = [];
      for (const query of open) {
        const found = await prometheus.series(filledIn(query.expr));
        const lacks = (label: string) =>
          label !== OPTIONAL_LABEL && !found.some(({ metric }) => label in metric);
        const isAbsent = found.length === 0 || query.labels.some(lacks);
        const mayBe = Object.keys(MAY_BE_ABSENT).some((name) => query.expr.includes(name));
        if (isAbsent && !(mayBe && found.length === 0)) missing.push(query);
      }
      open = missing;
      expect(missing).toEqual([]);
    },
    { withinMs: 40_000, everyMs: 500 },
  );
});

it.each(Object.entries(MAY_BE_ABSENT))('queries %s, which %s', (name) => {
  expect(queries.some(({ expr }) => expr.includes(name))).toBe(true);
});

it('begins with four figures, and shows the stores next', () => {
  const [first, ...panels] = dashboard.panels;
  expect(first?.type).toBe('row');
  const isRow = ({ type }: Panel) => type === 'row';
  expect(panels.slice(0, panels.findIndex(isRow)).map(({ title, type }) => [type, title])).toEqual([
    ['stat', 'Failing share'],
    ['stat', 'Share over the limit'],
    ['stat', 'Instances'],
    ['stat', 'Different rules'],
  ]);
  expect(panels.find(isRow)?.title).toBe('Store');
});

it.each([
  'Failing share',
  'Share over the limit',
  'Instances',
  'Different rules',
  'Breaker state',
  'Failed commands',
  'Counters without room',
  'Certificate of the gRPC port: time left',
  'Event-loop lag',
])('colours %s by thresholds', (title) => {
  const panel = dashboard.panels.find((one) => one.title === title);
  expect(panel?.fieldConfig?.defaults.thresholds?.steps.length).toBeGreaterThan(1);
});

it('has a unit on every panel, numbers them, and lays none over another', () => {
  const { panels } = dashboard;
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  const cells = panels.flatMap(({ gridPos: { h, w, x, y } }) =>
    Array.from(
      { length: h * w },
      (_, i) => `${String(x + (i % w))},${String(y + Math.floor(i / w))}`,
    ),
  );
  expect(new Set(cells).size).toBe(cells.length);
  const shown = panels.filter(({ type }) => type !== 'row');
  expect(shown.filter(({ fieldConfig }) => fieldConfig?.defaults.unit === undefined)).toEqual([]);
});

it('has a panel for each thing that an operator asks about', () => {
  const titles = dashboard.panels.map(({ title }) => title).join('\n');
  for (const subject of [
    'Hits',
    'Over',
    'Near',
    'Response',
    'Breaker',
    'lag',
    'Heap',
    'Series',
    'Memcached',
    'memory',
    'Local cache',
    'no rule',
    'Certificate',
    'Garbage',
  ])
    expect(titles).toContain(subject);
});
