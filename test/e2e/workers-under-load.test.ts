import { expectFigure, eventuallyWithin } from '../support/edge/figure';
import { eventually } from '../support/edge/eventually';
import { freePort } from '../support/free-port';
import { startLoad } from '../support/edge/load';
import { parseExposition } from '../support/parse-exposition';
import { readStatistics } from '../support/read-statistics';
import { ruleText } from '../support/rule-directory';
import { startStatsdUdp } from '../support/statsd-server';
import { connectionsTo, workersOf } from '../support/worker-processes';
import {
  HITS,
  LOADED,
  request,
  RESTARTS,
  useWorkerServices,
  WORKERS,
} from '../support/edge/worker-service';

const { rules, redis, start } = useWorkerServices();

async function countedInRedis(): Promise<number> {
  const keys = await redis().client.keys('*');
  const values = await Promise.all(keys.map((key) => redis().client.get(key)));
  return values.reduce((sum, value) => sum + Number(value), 0);
}

it('goes on when a worker is killed under load: only its calls in flight fail, no count is lost', async () => {
  const statsd = await startStatsdUdp();
  const service = await start({
    DISABLE_STATS: 'false',
    USE_STATSD: 'true',
    STATSD_PROTOCOL: 'udp',
    STATSD_HOST: '127.0.0.1',
    STATSD_PORT: String(statsd.port),
    STATS_FLUSH_INTERVAL: '1s',
  });
  const calls = startLoad(service, request, 8);
  await eventually(() => {
    expect(calls.answers.length).toBeGreaterThan(500);
  });
  const [victim = 0] = workersOf(service);
  process.kill(victim, 'SIGKILL');
  await eventually(async () => {
    const stats = await readStatistics(service);
    expect([stats.get(RESTARTS), stats.get(WORKERS)]).toEqual([1, 2]);
  });
  const { good, bad } = await calls.stop();
  // One call in flight on each of its four connections; the client may find one dead once more.
  expect(bad).toBeLessThanOrEqual(8);
  const counted = await countedInRedis();
  expect(counted).toBeGreaterThanOrEqual(good);
  expect(await service.stop()).toBe(0);
  await eventually(() => {
    const flushed = statsd.lines
      .filter((line) => line.startsWith(`${HITS}:`))
      .map((line) => Number(/:(\d+)\|c/.exec(line)?.[1]));
    const sum = flushed.reduce((total, by) => total + by, 0);
    // All but what the victim counted since its last report, at most a second of half of the calls.
    expect(sum).toBeLessThanOrEqual(counted);
    expect(sum).toBeGreaterThan(counted / 2);
  });
  await statsd.stop();
});

it('stops under load without an error', async () => {
  const service = await start({ DRAIN_DELAY: '3s' });
  const calls = startLoad(service, request, 8);
  await eventually(() => {
    expect(calls.answers.length).toBeGreaterThan(200);
  });
  const over = service.stop();
  await eventually(async () => {
    expect((await fetch(`${service.http}/healthcheck`)).status).toBe(500);
  });
  expect((await calls.stop()).bad).toBe(0);
  expect(await over).toBe(0);
});

/** To look at the connections of processes takes the system some milliseconds. */
const SELDOM = { everyMs: 100 };

it('evens out connections that came while a worker was slow, and after a death; no call fails for it', async () => {
  const service = await start({ WORKERS: '4' });
  const port = Number(service.grpc.split(':')[1]);
  const held = () => workersOf(service).map((pid) => connectionsTo(port, pid));
  const areEven = () => {
    expect(held()).toEqual([2, 2, 2, 2]);
  };
  const [victim = 0] = workersOf(service);
  process.kill(victim, 'SIGSTOP');
  const calls = startLoad(service, request, 8);
  await eventually(() => {
    expect(held().reduce((sum, of) => sum + of)).toBe(7);
  });
  process.kill(victim, 'SIGCONT');
  await eventuallyWithin(areEven, { ...SELDOM, name: 'even', belowMs: 10_000 });
  expect(calls.answers.filter(({ code }) => code !== 0)).toEqual([]);
  process.kill(victim, 'SIGKILL');
  await eventually(async () => {
    expect(workersOf(service)).not.toContain(victim);
    const stats = await readStatistics(service);
    expect([stats.get(RESTARTS), stats.get(WORKERS)]).toEqual([1, 4]);
  });
  await eventuallyWithin(areEven, { ...SELDOM, name: 'even again', belowMs: 10_000 });
  const { good, bad } = await calls.stop();
  // The calls in flight on the two connections of the one that died; a client may find one dead once more.
  expect(bad).toBeLessThanOrEqual(4);
  expect(await countedInRedis()).toBeGreaterThanOrEqual(good);
});

it('answers by the rules before or those after a reload, by nothing between', async () => {
  const service = await start();
  const calls = startLoad(service, request, 4);
  const limits = () =>
    calls.answers.map(({ response }) => {
      const [status] = (response as { statuses: { currentLimit?: object }[] }).statuses;
      return (status?.currentLimit as { requestsPerUnit?: number } | undefined)?.requestsPerUnit;
    });
  for (const [i, limit] of [2_000_000, 3_000_000].entries()) {
    rules.write('config/shop.yaml', ruleText(limit));
    await eventually(async () => {
      expect((await readStatistics(service)).get(LOADED)).toBe(2 + i);
    });
    // From here on no worker decides by those before.
    const asked = calls.answers.length + 4;
    await eventually(() => {
      expect(calls.answers.length).toBeGreaterThan(asked + 100);
    });
    expect(new Set(limits().slice(asked))).toEqual(new Set([limit]));
  }
  expect((await calls.stop()).bad).toBe(0);
  expect(new Set(limits())).toEqual(new Set([1_000_000, 2_000_000, 3_000_000]));
});

it('shows counters that never fall while a worker is stopped and replaced', async () => {
  const port = await freePort();
  const service = await start({
    DISABLE_STATS: 'false',
    USE_PULLMETRICS: 'true',
    PULLMETRICS_ADDR: `127.0.0.1:${String(port)}`,
  });
  const scrape = async () => {
    const startedMs = performance.now();
    const text = await (await fetch(`http://127.0.0.1:${String(port)}/metrics`)).text();
    expectFigure({ name: 'scrape', value: performance.now() - startedMs, unit: 'ms', below: 300 });
    const { samples, types } = parseExposition(text, 'text');
    return new Map(
      [...samples].filter(([name]) => types.get(name.replace(/\{.*/, '')) === 'counter'),
    );
  };
  const calls = startLoad(service, request, 4);
  await eventually(() => {
    expect(calls.answers.length).toBeGreaterThan(200);
  });
  let last = await scrape();
  expect(last.size).toBeGreaterThan(3);
  const [victim = 0] = workersOf(service);
  process.kill(victim, 'SIGSTOP');
  await eventually(
    async () => {
      const now = await scrape();
      for (const [name, value] of last)
        expect([name, Math.max(now.get(name) ?? 0, value)]).toEqual([name, now.get(name)]);
      last = now;
      expect(now.get('ratelimit_workers_restarts')).toBe(1);
    },
    { withinMs: 25_000, everyMs: 100 },
  );
  await calls.stop();
}, 60_000);
