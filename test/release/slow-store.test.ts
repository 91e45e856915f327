import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { parse } from 'yaml';
import { launchChromium, openPage } from '../support/chromium';
import { temporaryRules } from '../support/dashboard-rules';
import { startEnvoy, stopEnvoys, type Envoy } from '../support/edge/envoy';
import { FILTER_COUNTERS } from '../support/envoy-config';
import { eventually } from '../support/edge/eventually';
import { freePort } from '../support/free-port';
import { PROGRAMS } from '../support/edge/programs';
import { startPrometheus } from '../support/edge/prometheus';
import { readStatistics } from '../support/read-statistics';
import { startRedisServer } from '../support/edge/redis-server';
import { startService, stopServices } from '../support/edge/service';
import { startTcpProxy } from '../support/edge/tcp-proxy';

const { groups } = parse(
  readFileSync(join(__dirname, '../../deploy/prometheus/alerts.yaml'), 'utf8'),
) as {
  readonly groups: readonly {
    readonly rules: readonly { readonly alert: string; readonly expr: string }[];
  }[];
};
const exprOf = (name: string) =>
  groups.flatMap(({ rules }) => rules).find(({ alert }) => alert === name)?.expr ?? '';

const FEW = { 'x-user': 'few' };
const SHOP = `domain: edge
descriptors:
  - key: user
    rate_limit: { unit: day, requests_per_unit: 5 }
`;

const program = PROGRAMS.envoy();
const itWithEnvoy = program === undefined ? it.skip : it;
const ends: (() => Promise<unknown>)[] = [];
let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser.close());
afterEach(async () => {
  await stopEnvoys();
  await stopServices();
  for (const end of ends.splice(0).reverse()) await end();
});

/** The store answers a tenth of a second later, the proxy gives up after half of that. */
async function startSlow() {
  const redis = await startRedisServer();
  ends.push(() => redis.stop());
  const store = await startTcpProxy(redis.port);
  ends.push(() => store.close());
  const rules = await temporaryRules([SHOP]);
  ends.push(() => rm(rules.folder, { recursive: true }));
  const scrapes = await freePort();
  const service = await startService({
    waitUntilUp: 'connected',
    env: {
      ...rules.env,
      KVSTORE_URL: `127.0.0.1:${String(store.port)}`,
      DISABLE_STATS: 'false',
      USE_PULLMETRICS: 'true',
      PULLMETRICS_ADDR: `127.0.0.1:${String(scrapes)}`,
    },
  });
  const prometheus = await startPrometheus(scrapes);
  ends.push(() => prometheus.stop());
  const envoy = await startEnvoy(program ?? '', { service: service.grpc, timeoutMs: 50 });
  await eventually(async () => {
    expect((await envoy.get(FEW)).limit).not.toBeNull();
  });
  store.behaviour.answerDelayMs = 100;
  return { service, prometheus, envoy };
}

const passes = async (envoy: Envoy, requests: number) => {
  for (let i = 0; i < requests; i += 1) expect((await envoy.get(FEW)).status).toBe(200);
};

itWithEnvoy('shows everywhere that callers give up when the store is slow', async () => {
  const { service, prometheus, envoy } = await startSlow();
  const { page } = await openPage(browser, `${service.debug}/ui`);
  await page.locator('#dot[data-state=good]').waitFor();
  const allowedBefore = await envoy.counter(`${FILTER_COUNTERS}.failure_mode_allowed`);
  await passes(envoy, 30);
  const allowed = await envoy.counter(`${FILTER_COUNTERS}.failure_mode_allowed`);
  expect(allowed - allowedBefore).toBe(30);

  const banner = page.locator('#banner li', { hasText: 'of callers gave up' }).first();
  const firing = async (name: string) => (await prometheus.series(exprOf(name))).length > 0;
  await eventually(
    async () => {
      await passes(envoy, 5);
      expect(await banner.textContent()).toMatch(
        /^\d+(?:\.\d)?% of callers gave up; the store answers in 1\d\d(?:\.\d)? ms since \d\d:\d\d/,
      );
      expect(await page.title()).toBe('(!) Weir');
      expect(await page.locator('#status').textContent()).toMatch(/^most decisions fail, /);
      expect(service.output()).toMatch(
        /level=error.*callers give up before they are answered.*share="?\d+ %.*storeMs=\d+/,
      );
      for (const name of ['WeirCallersGiveUp', 'WeirDecisionsSlow', 'WeirStoreSlow'])
        expect([name, await firing(name)]).toEqual([name, true]);
    },
    { withinMs: 30_000 },
  );
  const statistics = await readStatistics(service);
  const call = 'ratelimit.service.call.should_rate_limit';
  expect(statistics.get(`${call}.abandoned`)).toBeGreaterThan(30);
  expect(statistics.get(`${call}.redis_error`)).toBe(0);
  // Times are those of answers, not of the moments at which callers left.
  const mean = await prometheus.query(
    'sum(ratelimit_service_response_time_seconds_sum) / sum(ratelimit_service_response_time_seconds_count)',
  );
  expect(mean).toBeGreaterThan(0.09);
});
