import { lastValueFrom } from 'rxjs';
import { createStatisticsActor } from '../../src/app/observe/statistics';
import { createOutageLog } from '../../src/app/outage-log';
import { NO_FIGURES } from '../../src/core/decision/figures';
import type { Rules } from '../../src/core/rules/rules';
import { readSettings } from '../../src/settings/settings';
import { createRegistry } from '../../src/stats/registry';
import { createSnapshot } from '../../streams';
import { eventually } from '../support/edge/eventually';
import { freePort } from '../support/free-port';
import { httpLimits } from '../support/http-limits';
import { parseExposition } from '../support/parse-exposition';
import { createRecordingLogger } from '../support/recording-logger';

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
  const sink = createStatisticsActor(read.settings.statistics, {
    registry,
    logger,
    outages: createOutageLog({ logger, monotonicMs: () => performance.now() }),
    rules: createSnapshot<Rules | undefined>(undefined),
    rulesVersion: () => undefined,
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
  const get = () => fetch(`http://127.0.0.1:${String(port)}/metrics`);
  const scrape = async () => parseExposition(await (await get()).text(), 'text');
  return { registry, lines, get, scrape, close };
}

describe('pull metrics', () => {
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

  it('answers a scrape of many series while other work has its turn', async () => {
    const { registry, lines, scrape } = await start({ STATS_MAX_SERIES: '20000' });
    for (let i = 0; i < 30_000; i += 1)
      registry.rules.of(`web.user_${String(i)}`).add({ ...NO_FIGURES, totalHits: 6 });
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
