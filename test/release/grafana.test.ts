import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { shouldRateLimit } from '../../src/cli/call';
import { eventually } from '../support/edge/eventually';
import { startPrometheus } from '../support/edge/prometheus';
import {
  failCommands,
  fillMemory,
  holdHits,
  misuse,
  startFleet,
} from '../support/edge/scraped-fleet';
import { ask, stopServices } from '../support/edge/service';

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

/** Counters of what went wrong: the load of this file makes each go up. */
const OF_ERRORS: readonly string[] = [
  'ratelimit_memcache_multiget___code_error',
  'ratelimit_memcache_increment___code_error',
  'ratelimit_memcache_add___code_error',
  'ratelimit_memory_evictions',
  'ratelimit_memory_refused',
  'ratelimit_service_certificate_load_error',
  'ratelimit_server_tls_handshake_error',
  'ratelimit_connections_ended_unread',
];
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

it('has only queries that a real scrape of every store has series and labels for', async () => {
  const fleet = await startFleet(ends);
  const { redis, rules, onRedis, onMemcached, onFailing, inMemory } = fleet;
  await fillMemory(fleet);
  await holdHits(fleet);
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
  await failCommands(fleet);
  await misuse(fleet, ends);
  const all = [onRedis, onMemcached, onFailing, inMemory];
  const prometheus = await startPrometheus(...all.map(({ port }) => port));
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
        if (found.length === 0 || query.labels.some(lacks)) missing.push(query);
      }
      open = missing;
      expect(missing).toEqual([]);
    },
    { withinMs: 40_000, everyMs: 500 },
  );
  const wentUp = await Promise.all(
    OF_ERRORS.map(async (name) => (await prometheus.series(`${name} > 0`)).length > 0),
  );
  expect(OF_ERRORS.filter((_, index) => wentUp[index] !== true)).toEqual([]);
});

it.each(OF_ERRORS)('queries %s', (name) => {
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
    'Reservations',
    'Memcached',
    'memory',
    'Local cache',
    'no rule',
    'Certificate',
    'Garbage',
  ])
    expect(titles).toContain(subject);
});
