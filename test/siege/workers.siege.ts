import { expectFigure } from '../support/edge/figure';
import { startRedisServer, type RedisServer } from '../support/edge/redis-server';
import { startService, stopServices } from '../support/edge/service';

let redis: RedisServer;
beforeAll(async () => {
  redis = await startRedisServer();
});
afterEach(stopServices);
afterAll(() => redis.stop());

/** Milliseconds from the start until every worker serves. */
async function startMs(workers: number): Promise<number> {
  const service = await startService({
    env: { WORKERS: String(workers), KVSTORE_URL: `127.0.0.1:${String(redis.port)}` },
    waitUntilUp: 'connected',
  });
  await service.stop();
  return service.startMs;
}

it('takes little longer to start with two workers than with one', async () => {
  const one: number[] = [];
  const two: number[] = [];
  const growth = () => Math.min(...two) - Math.min(...one);
  // The time of each is that of its least disturbed start.
  for (let i = 0; i < 10 && !(growth() < 150); i++) {
    one.push(await startMs(1));
    two.push(await startMs(2));
  }
  expectFigure({ name: 'more', value: growth(), unit: 'ms', below: 150 });
}, 120_000);
