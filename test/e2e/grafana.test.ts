import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { shouldRateLimit } from '../../src/client/call';
import { eventually } from '../support/eventually';
import { freePort } from '../support/free-port';
import { temporaryRules } from '../support/dashboard-rules';
import { parseExposition } from '../support/parse-exposition';
import { startRedisServer } from '../support/redis-server';
import { startService, stopServices } from '../support/service';

interface Dashboard {
  readonly panels: readonly {
    readonly title: string;
    readonly targets?: readonly { readonly expr: string }[];
  }[];
  readonly templating: {
    readonly list: readonly { readonly name: string; readonly definition?: string }[];
  };
}

const dashboard = JSON.parse(
  readFileSync(join(__dirname, '../../examples/grafana/weir.json'), 'utf8'),
) as Dashboard;

/** Labels that Prometheus itself adds to what it scrapes, and those that a query makes. */
const OF_PROMETHEUS = ['job', 'instance', 'hash'];
const WORDS = new Set(['by', 'sum', 'count', 'label_values']);

/** Metrics of a query with the labels that it wants of each. */
function metricsOf(expr: string): { name: string; labels: string[] }[] {
  const bare = expr.replace(/"[^"]*"/g, '""');
  const grouped = [...bare.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, labels = '']) =>
    labels.split(', '),
  );
  const looked = /label_values\(.*, (\w+)\)$/.exec(bare)?.[1];
  const queried = bare.replace(/\bby \([^)]*\)/g, '').replace(/, \w+\)$/, ')');
  return [...queried.matchAll(/\b([a-z]\w*)(\{[^}]*\})?(?=[,)[ ]|$)/g)]
    .filter(([, name = '']) => !WORDS.has(name) && !name.startsWith('__'))
    .map(([, name = '', matchers = '']) => ({
      name,
      labels: [
        ...grouped,
        ...(looked === undefined ? [] : [looked]),
        ...[...matchers.matchAll(/(\w+)=/g)].map(([, label = '']) => label),
      ].filter((label) => !OF_PROMETHEUS.includes(label)),
    }));
}

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await stopServices();
  for (const end of ends.splice(0)) await end();
});

it('queries only metrics and labels that the service exports', async () => {
  const redis = await startRedisServer();
  ends.push(() => redis.stop());
  const example = readFileSync(join(__dirname, '../../examples/config/example.yaml'), 'utf8');
  const rules = await temporaryRules([example]);
  ends.push(() => rm(rules.folder, { recursive: true }));
  const port = await freePort();
  const service = await startService({
    waitUntilUp: 'connected',
    env: {
      ...rules.env,
      DISABLE_STATS: 'false',
      USE_PULLMETRICS: 'true',
      PULLMETRICS_ADDR: `127.0.0.1:${String(port)}`,
      KVSTORE_URL: `127.0.0.1:${String(redis.port)}`,
    },
  });
  // More than the limit of a rule in shadow mode: within, near, over and shadow all count.
  await shouldRateLimit({
    dialString: service.grpc,
    domain: 'example',
    descriptors: [{ entries: [{ key: 'api_key', value: 'team' }] }],
    hitsAddend: 1_500,
    timeoutMs: 5_000,
    json: false,
    tls: undefined,
  });
  await rules.write('domain: [');
  await redis.client.call('client', 'kill', 'type', 'normal');
  const exported = await eventually(async () => {
    const answer = await fetch(`http://127.0.0.1:${String(port)}/metrics`);
    const { samples } = parseExposition(await answer.text(), 'text');
    const keys = [...samples.keys()];
    for (const late of ['response_time_seconds_count', 'config_load_error'])
      expect(keys.some((key) => key.startsWith(`ratelimit_service_${late}`))).toBe(true);
    expect(keys).toContain('ratelimit_redis_pool_cx_local_close');
    return keys;
  });

  const queries = [
    ...dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
    ...dashboard.templating.list.flatMap(({ definition = '' }) =>
      definition === '' ? [] : [definition],
    ),
  ];
  expect(queries.length).toBeGreaterThan(20);
  const wanted = queries.flatMap(metricsOf);
  expect(wanted.length).toBeGreaterThanOrEqual(queries.length);
  const missing = wanted.filter(({ name, labels }) => {
    const fits = (key: string) =>
      key.split('{')[0] === name &&
      labels.every((label) => label === 'key2' || new RegExp(`[{,]${label}="`).test(key));
    return !exported.some(fits);
  });
  expect(missing).toEqual([]);
});

it('has a panel for each thing that an operator asks about', () => {
  const titles = dashboard.panels.map(({ title }) => title).join('\n');
  for (const subject of ['Hits', 'Over', 'Near', 'Response', 'breaker', 'lag', 'Heap', 'Series'])
    expect(titles).toContain(subject);
});
