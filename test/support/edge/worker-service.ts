import { eventually } from './eventually';
import { startRedisServer, type RedisServer } from './redis-server';
import { createTemporaryDirectory, ruleText } from '../rule-directory';
import { startService, stopServices, type Service } from './service';

type Env = Readonly<Record<string, string>>;

/** One call for the limit of `shop`. */
export const request = {
  domain: 'shop',
  descriptors: [{ entries: [{ key: 'user', value: 'ann' }] }],
};

/** Statistics that the tests of workers look at. */
export const HITS = 'ratelimit.service.rate_limit.shop.user.total_hits';
export const LOADED = 'ratelimit.service.config_load_success';
export const WORKERS = 'ratelimit.workers.count';
export const RESTARTS = 'ratelimit.workers.restarts';

/** Gives the tests of a file one Redis, emptied before each, and services of two workers with a rule of so many calls. */
export function useWorkerServices(limit = 1_000_000) {
  let redis: RedisServer;
  const rules = createTemporaryDirectory();
  beforeAll(async () => {
    redis = await startRedisServer();
  });
  beforeEach(async () => {
    await redis.client.flushall();
    rules.write('config/shop.yaml', ruleText(limit));
  });
  afterEach(stopServices);
  afterAll(async () => {
    await redis.stop();
    rules.remove();
  });

  const settings = (env: Env = {}): Env => ({
    WORKERS: '2',
    KVSTORE_URL: `127.0.0.1:${String(redis.port)}`,
    RUNTIME_ROOT: rules.path,
    ...env,
  });
  return {
    rules,
    settings,
    redis: () => redis,
    /** Settles once all workers listen. */
    async start(env: Env = {}): Promise<Service> {
      const service = await startService({ env: settings(env) });
      await isHealthy(service);
      return service;
    },
  };
}

export const isHealthy = (service: Service): Promise<void> =>
  eventually(async () => {
    expect((await fetch(`${service.http}/healthcheck`)).status).toBe(200);
  });
