import { writeFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { lastValueFrom } from 'rxjs';
import { createStatisticsActor } from '../../src/app/observe/statistics';
import { createOutageLog } from '../../src/app/outage-log';
import { readSettings } from '../../src/settings/settings';
import { createRecordStats } from '../../src/stats/record-stats';
import { createRegistry } from '../../src/stats/registry';
import { createSnapshot } from '../../streams';
import { eventually } from '../support/edge/eventually';
import { freePort } from '../support/free-port';
import { httpLimits } from '../support/http-limits';
import { parseExposition } from '../support/parse-exposition';
import { createRecordingLogger } from '../support/recording-logger';
import { SOME_LIMIT } from '../support/rules';
import { someRules } from '../bench/load';

const RULES_VERSION = {
  version: 'sha256:3f9c',
  loadedAt: '2026-11-22T13:00:00.000Z',
  source: 'files',
} as const;

const ends: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** The output of these settings, listening. */
async function start(env: Readonly<Record<string, string>> = {}) {
  const port = await freePort();
  const read = readSettings({
    BACKEND_TYPE: 'memory',
    USE_PULLMETRICS: 'true',
    PULLMETRICS_ADDR: `127.0.0.1:${String(port)}`,
    ...env,
  });
  if (!read.ok) throw new Error(read.problems.join('\n'));
  const registry = createRegistry();
  const { logger, lines } = createRecordingLogger();
  const rules = createSnapshot<ReturnType<typeof someRules> | undefined>(undefined);
  const sink = createStatisticsActor(read.settings.statistics, {
    registry,
    logger,
    outages: createOutageLog({ logger, monotonicMs: () => performance.now() }),
    rules,
    rulesVersion: () => RULES_VERSION,
    limits: httpLimits(),
  });
  const run = lastValueFrom(sink.run$, { defaultValue: undefined });
  const close = () => {
    void sink.close();
    return run;
  };
  ends.push(close);
  await eventually(() => {
    expect(lines.some(({ message }) => message.startsWith('listening for metrics'))).toBe(true);
  });
  const get = (path = '/metrics', init: RequestInit = {}) =>
    fetch(`http://127.0.0.1:${String(port)}${path}`, init);
  const scrape = async () => parseExposition(await (await get()).text(), 'text');
  return { registry, rules, lines, get, scrape, close };
}

const figures = { overLimit: 5, nearLimit: 4, withinLimit: 3, shadowMode: 2 };
const line = (metric: string) => ({
  limit: SOME_LIMIT,
  metric,
  totalHits: 6,
  totalNegativeHits: 7,
  ...figures,
  overLimitWithLocalCache: 1,
});
const NOTHING = {
  unmet: { unknownDomains: [], unmatched: undefined },
  serviceErrors: 0,
  storeErrors: 0,
  storeTimeouts: 0,
  breakerOpen: 0,
  answeredLocally: 0,
  globalShadowMode: 0,
  requests: 0,
  abandoned: 0,
};

describe('pull metrics', () => {
  it('shows every metric of the document with its labels after a load', async () => {
    const { registry, scrape } = await start();
    const batchStats = { ...NOTHING, serviceErrors: 1, storeErrors: 2, globalShadowMode: 1 };
    createRecordStats(registry)({
      ...batchStats,
      rules: [line('web.user'), line('web.path.verb')],
    });
    registry.count('ratelimit.service.config_load_success', 1);
    registry.count('ratelimit.service.config_load_error', 1);
    registry.count('ratelimit_server.ShouldRateLimit.total_requests', 7);
    registry.time('ratelimit_server.ShouldRateLimit.response_time', 1, 7);
    const { samples, types } = await scrape();

    const stats = {
      total_hits: 6,
      total_negative_hits: 7,
      over_limit: 5,
      near_limit: 4,
      within_limit: 3,
      shadow_mode: 2,
    };
    for (const [stat, value] of Object.entries(stats)) {
      const name = `ratelimit_service_rate_limit_${stat}`;
      expect(types.get(name)).toBe('counter');
      expect(samples.get(`${name}{domain="web",key1="user"}`)).toBe(value);
      expect(samples.get(`${name}{domain="web",key1="path",key2="verb"}`)).toBe(value);
    }
    const method = '{grpc_method="ShouldRateLimit"}';
    const others: [string, string, number][] = [
      ['ratelimit_service_should_rate_limit_error', '{err_type="service_error"}', 1],
      ['ratelimit_service_should_rate_limit_error', '{err_type="redis_error"}', 2],
      ['ratelimit_service_total_requests', method, 7],
      ['ratelimit_service_config_load_success', '', 1],
      ['ratelimit_service_config_load_error', '', 1],
      ['ratelimit_service_global_shadow_mode', '', 1],
    ];
    for (const [name, labels, value] of others) {
      expect([name, types.get(name), samples.get(name + labels)]).toEqual([name, 'counter', value]);
    }
    expect(types.get('ratelimit_service_response_time_seconds')).toBe('histogram');
    expect(samples.get(`ratelimit_service_response_time_seconds_count${method}`)).toBe(7);
  });

  it('shows the build, the rules in force and the process', async () => {
    const { rules, scrape } = await start();
    const before = await scrape();
    expect(before.samples.has('weir_config_hash')).toBe(false);
    rules.set(someRules(3));
    const first = await scrape();
    rules.set(someRules(3));
    const same = await scrape();
    rules.set(someRules(4));
    const other = await scrape();
    const hash = ({ samples }: typeof first) => samples.get('weir_config_hash') ?? 0;
    expect(hash(first)).toBeGreaterThan(0);
    expect(hash(same)).toBe(hash(first));
    expect(hash(other)).not.toBe(hash(first));
    const names = [...other.samples.keys()].map((key) => key.replace(/\{.*/, ''));
    expect(names).toEqual(
      expect.arrayContaining([
        'weir_build_info',
        'nodejs_eventloop_lag_seconds',
        'nodejs_eventloop_lag_mean_seconds',
        'nodejs_eventloop_lag_p99_seconds',
        'nodejs_heap_space_size_used_bytes',
        'nodejs_version_info',
        'process_open_fds',
        'nodejs_heap_size_used_bytes',
        'process_resident_memory_bytes',
        'process_cpu_seconds_total',
      ]),
    );
  });

  it('shows how long garbage was collected', async () => {
    const { scrape } = await start();
    await eventually(async () => {
      const garbage = Array.from({ length: 100_000 }, (_, i) => ({ i }));
      const { types, samples } = await scrape();
      expect(types.get('nodejs_gc_duration_seconds')).toBe('histogram');
      expect(samples.get('nodejs_gc_duration_seconds_count{kind="minor"}')).toBeGreaterThan(0);
      expect(garbage).toHaveLength(100_000);
    });
  });

  it('shows 0 of what never happened, so that the first time is seen as an increase', async () => {
    const { registry, scrape } = await start();
    createRecordStats(registry);
    const { samples } = await scrape();
    for (const series of [
      'ratelimit_service_config_load_error',
      'ratelimit_service_config_load_success',
      'ratelimit_service_certificate_load_error',
      'ratelimit_connections_ended_unread',
      'ratelimit_http_json_refused',
      'ratelimit_server_tls_handshake_error',
      'ratelimit_service_total_requests{grpc_method="ShouldRateLimit"}',
      'ratelimit_service_should_rate_limit_error{err_type="service_error"}',
      'ratelimit_service_should_rate_limit_error{err_type="redis_error"}',
      'ratelimit_service_should_rate_limit_error{err_type="breaker_open"}',
      'ratelimit_statistics_overflow',
    ])
      expect([series, samples.get(series)]).toEqual([series, 0]);
  });

  it('shows how long the event loop lagged since the scrape before, without the interval of the monitor', async () => {
    const { scrape } = await start();
    const lag = async () => {
      const { samples } = await scrape();
      return ['min', 'mean', 'max'].map(
        (what) => samples.get(`nodejs_eventloop_lag_${what}_seconds`) ?? -1,
      );
    };
    // The monitor notes a gap at its next look, which may come after the scrape: then the next gap is seen.
    await eventually(async () => {
      const hold = performance.now() + 300;
      while (performance.now() < hold);
      const [, , held = 0] = await lag();
      expect(held).toBeGreaterThan(0.2);
      expect(held).toBeLessThan(60);
    });
    for (const value of await lag()) {
      expect(value).toBeGreaterThanOrEqual(0);
      expect(value).toBeLessThan(60);
    }
  });

  it('shows the share of time in which the event loop was busy', async () => {
    const { scrape } = await start();
    // Held within one turn, longer than the least time of which a share is taken.
    const hold = performance.now() + 1_000;
    while (performance.now() < hold);
    const { types, samples } = await scrape();
    expect(types.get('nodejs_eventloop_utilization')).toBe('gauge');
    const share = samples.get('nodejs_eventloop_utilization');
    expect(share).toBeGreaterThan(0.5);
    expect(share).toBeLessThanOrEqual(1);
  });

  it('shows descriptors that no rule matched by domain', async () => {
    const { registry, scrape } = await start();
    const unmet = { unknownDomains: [], unmatched: new Map([['my.shop', 3]]) };
    createRecordStats(registry)({ ...NOTHING, rules: [], unmet });
    const { samples, types } = await scrape();
    expect(types.get('ratelimit_unmatched')).toBe('counter');
    expect(samples.get('ratelimit_unmatched{domain="my.shop"}')).toBe(3);
  });

  it('speaks OpenMetrics and gzip when it is asked to', async () => {
    const { registry, get } = await start();
    registry.count('hits', 3);
    const headers = { Accept: 'application/openmetrics-text; version=1.0.0' };
    const answer = await get('/metrics', { headers: { ...headers, 'Accept-Encoding': 'gzip' } });
    expect(answer.headers.get('content-type')).toContain('application/openmetrics-text');
    expect(answer.headers.get('content-encoding')).toBe('gzip');
    const text = await answer.text();
    expect(() => gunzipSync(text)).toThrow();
    expect(parseExposition(text, 'openmetrics').samples.get('hits')).toBe(3);
  });

  it('answers its path only, and GET and HEAD only', async () => {
    const { get } = await start({ PULLMETRICS_PATH: '/my/metrics' });
    const statuses = await Promise.all([
      get('/metrics'),
      get('/my/metrics', { method: 'POST' }),
      get('/my/metrics', { method: 'HEAD' }),
      get('/my/metrics?name[]=up'),
    ]);
    expect(statuses.map(({ status }) => status)).toEqual([404, 405, 200, 200]);
    expect(await statuses[0].text()).toContain('/my/metrics');
    await Promise.all(statuses.slice(1).map((answer) => answer.text()));
  });

  it('reads a mapping file, and the built-in one when that is wrong or missing', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'weir-mapping-'));
    ends.push(() => rm(folder, { recursive: true }));
    const file = join(folder, 'mapping.yaml');
    await writeFile(file, 'mappings: [{match: "(?P<a>h.*)", match_type: regex, name: mine_$1}]');
    const good = await start({ PULLMETRICS_MAPPER_YAML: file });
    good.registry.count('hits', 1);
    expect((await good.scrape()).samples.get('mine_hits')).toBe(1);

    await writeFile(file, 'mappings: [{match: a}]');
    for (const path of [file, join(folder, 'missing.yaml')]) {
      const { registry, lines, scrape } = await start({ PULLMETRICS_MAPPER_YAML: path });
      registry.count('ratelimit_server.Check.total_requests', 1);
      const { samples } = await scrape();
      expect(samples.get('ratelimit_service_total_requests{grpc_method="Check"}')).toBe(1);
      const errors = lines.filter(({ level }) => level === 'error');
      expect(errors.map(({ message }) => message)).toEqual([
        `the mapping file ${path} is not used, the built-in mapping is`,
      ]);
    }
  });

  it('answers a scrape of many series while other work has its turn', async () => {
    const { registry, lines, scrape } = await start({ STATS_MAX_SERIES: '20000' });
    const record = createRecordStats(registry);
    for (let i = 0; i < 30_000; i += 1)
      record({ ...NOTHING, rules: [line(`web.user_${String(i)}`)] });
    let turns = 0;
    const counting = setInterval(() => (turns += 1), 0);
    const { samples } = await scrape();
    clearInterval(counting);
    const name = 'ratelimit_service_rate_limit_total_hits';
    const own = [...samples.keys()].filter((key) => key.startsWith(`${name}{`));
    expect(own).toHaveLength(20_001);
    expect(samples.get(`${name}{domain="web",key1="overflow"}`)).toBe(60_000);
    expect(samples.get('ratelimit_statistics_overflow')).toBe(10_000);
    const warnings = lines.filter(({ level }) => level === 'warn');
    expect(warnings.filter(({ message }) => !message.startsWith('listening'))).toHaveLength(1);
    expect(turns).toBeGreaterThan(10);
  });

  it('ends when it is closed', async () => {
    const { get, close } = await start();
    expect((await get()).status).toBe(200);
    await close();
    await expect(get()).rejects.toThrow();
  });
});
