import { eventually } from '../support/eventually';
import { freePort } from '../support/free-port';
import { startPrometheus } from '../support/prometheus';
import { ask, startService, stopServices } from '../support/service';

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await stopServices();
  for (const end of ends.splice(0)) await end();
});

const HITS = 'ratelimit_service_rate_limit_total_hits{domain="example",key1="remote_address"}';
const LEAST_MS = 5_000;
const EVERY_MS = 50;

it('Prometheus scrapes it, and a PromQL query gives the right rate and total', async () => {
  const port = await freePort();
  const service = await startService({
    env: {
      BACKEND_TYPE: 'memory',
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
  // A steady load: one request is due every 50 ms.
  const sentAt: number[] = [];
  const startedAt = performance.now();
  while (performance.now() - startedAt < LEAST_MS) {
    const dueAt = startedAt + sentAt.length * EVERY_MS;
    await eventually(() => {
      if (performance.now() < dueAt) throw new Error('not due yet');
    });
    sentAt.push(performance.now());
    await ask(service, 'example', 'remote_address=a');
  }
  const rate = (await prometheus.query(`rate(${HITS}[4s])`)) ?? 0;
  const newest = performance.now();
  const sent = sentAt.filter((at) => newest - at <= 4_000).length / 4;
  expect(rate / sent).toBeGreaterThan(0.8);
  expect(rate / sent).toBeLessThan(1.2);
  await eventually(async () => {
    expect(await prometheus.query(HITS)).toBe(sentAt.length + 1);
  });
  expect(await prometheus.query('up')).toBe(1);
});
