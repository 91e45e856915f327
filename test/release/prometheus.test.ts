import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '../support/edge/eventually';
import { freePort } from '../support/free-port';
import { startPrometheus } from '../support/edge/prometheus';
import { ask, startService, stopServices, type Service } from '../support/edge/service';

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await stopServices();
  for (const end of ends.splice(0)) await end();
});

const HITS = 'ratelimit_service_rate_limit_total_hits{domain="example",key1="remote_address"}';
const LEAST_MS = 5_000;
const EVERY_MS = 50;

/** A steady load: one request is due every 50 ms. */
function startLoad(service: Service) {
  const sentAt: number[] = [];
  const startedAt = performance.now();
  let isOver = false;
  const askOnAndOn = async (): Promise<void> => {
    while (!isOver) {
      await delay(startedAt + sentAt.length * EVERY_MS - performance.now());
      sentAt.push(performance.now());
      await ask(service, 'example', 'remote_address=a');
    }
  };
  const done = askOnAndOn();
  // Of interest where it is waited for: a test that fails stops the service under it.
  done.catch(() => undefined);
  return {
    ms: () => performance.now() - startedAt,
    /** Of the last four seconds. */
    perSecond: () => sentAt.filter((at) => performance.now() - at <= 4_000).length / 4,
    async stop() {
      isOver = true;
      await done;
      return sentAt.length;
    },
  };
}

it('Prometheus scrapes it, and a PromQL query gives the right rate and total', async () => {
  const port = await freePort();
  const service = await startService({
    env: {
      DISABLE_STATS: 'false',
      USE_PULLMETRICS: 'true',
      PULLMETRICS_ADDR: `127.0.0.1:${String(port)}`,
    },
  });
  const prometheus = await startPrometheus(port);
  ends.push(() => prometheus.stop());
  await ask(service, 'example', 'remote_address=a');
  // It takes up its targets some seconds after its start.
  await eventually(
    async () => {
      expect(await prometheus.query(HITS)).toBe(1);
    },
    { withinMs: 20_000, everyMs: 100 },
  );
  const load = startLoad(service);
  // When this machine held anybody up, the load was not steady: then a later look shows the rate.
  await eventually(
    async () => {
      if (load.ms() < LEAST_MS) throw new Error('not asked for long enough');
      const rate = (await prometheus.query(`rate(${HITS}[4s])`)) ?? 0;
      expect(rate / load.perSecond()).toBeGreaterThan(0.8);
      expect(rate / load.perSecond()).toBeLessThan(1.2);
    },
    { withinMs: 20_000, everyMs: 250 },
  );
  const sent = await load.stop();
  await eventually(async () => {
    expect(await prometheus.query(HITS)).toBe(sent + 1);
    expect(await prometheus.query('up')).toBe(1);
  });
});
