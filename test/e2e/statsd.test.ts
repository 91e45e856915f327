import { eventually } from '../support/edge/eventually';
import { startRedisServer } from '../support/edge/redis-server';
import { createTemporaryDirectory } from '../support/rule-directory';
import { ask, startService, stopServices } from '../support/edge/service';
import { startStatsdProcess } from '../support/edge/statsd-process';

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await stopServices();
  for (const end of ends.splice(0)) await end();
});

/** Of a day: a minute may end among the requests. */
const RULES = `domain: shop
descriptors:
  - { key: user, rate_limit: { unit: day, requests_per_unit: 100 } }
`;

it.each(['tcp', 'udp'] as const)(
  'the StatsD server of npm gets exact totals and the time of the store over %s',
  async (protocol) => {
    const statsd = await startStatsdProcess(protocol);
    ends.push(() => statsd.stop());
    const rules = createTemporaryDirectory();
    ends.push(() => {
      rules.remove();
      return Promise.resolve();
    });
    rules.write('config/shop.yaml', RULES);
    const redis = await startRedisServer();
    ends.push(() => redis.stop());
    const service = await startService({
      waitUntilUp: 'connected',
      env: {
        RUNTIME_ROOT: rules.path,
        KVSTORE_URL: `127.0.0.1:${String(redis.port)}`,
        DISABLE_STATS: 'false',
        STATSD_HOST: '127.0.0.1',
        STATSD_PORT: String(statsd.port),
        STATSD_PROTOCOL: protocol,
        STATS_FLUSH_INTERVAL: '50ms',
      },
    });
    const asked = 120;
    const statuses: number[] = [];
    for (let i = 0; i < asked; i++) statuses.push((await ask(service, 'shop', 'user=ann')).status);
    const refused = statuses.filter((status) => status === 429).length;
    expect(refused).toBeGreaterThan(0);
    const rule = 'ratelimit.service.rate_limit.shop.user';
    await eventually(async () => {
      const counters = await statsd.counters();
      expect(counters.get(`${rule}.total_hits`)).toBe(asked);
      expect(counters.get(`${rule}.over_limit`)).toBe(refused);
      expect(counters.get(`${rule}.within_limit`)).toBe(asked - refused);
      expect(counters.get('statsd.bad_lines_seen')).toBe(0);
    });
    expect(await statsd.timers()).toContain('ratelimit.store.redis.time');
  },
);
