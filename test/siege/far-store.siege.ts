import { expectFigure } from '../support/edge/figure';
import { askPaced, percentile } from '../support/edge/paced-load';
import { startRedisServer } from '../support/edge/redis-server';
import { createTemporaryDirectory } from '../support/rule-directory';
import { startService, stopServices } from '../support/edge/service';
import { startTcpProxy } from '../support/edge/tcp-proxy';

const RULES = `domain: far
descriptors:
  - { key: user, rate_limit: { unit: day, requests_per_unit: 1000000 } }
`;

const ends: (() => unknown)[] = [];
afterEach(async () => {
  await stopServices();
  for (const end of ends.splice(0).reverse()) await end();
});

async function startFar(roundTripMs: number) {
  const redis = await startRedisServer();
  ends.push(() => redis.stop());
  const store = await startTcpProxy(redis.port);
  ends.push(() => store.close());
  store.behaviour.answerDelayMs = roundTripMs;
  const directory = createTemporaryDirectory();
  directory.write('config/far.yaml', RULES);
  ends.push(() => {
    directory.remove();
  });
  return startService({
    waitUntilUp: 'connected',
    env: {
      KVSTORE_URL: `127.0.0.1:${String(store.port)}`,
      KVSTORE_TIMEOUT: '1s',
      RUNTIME_ROOT: directory.path,
      RUNTIME_WATCH_ROOT: 'false',
    },
  });
}

it.each([[150], [300]])(
  'no call of the first thousands fails whose store is %i ms away, from a standing start',
  async (roundTripMs) => {
    const service = await startFar(roundTripMs);
    const request = {
      domain: 'far',
      descriptors: [{ entries: [{ key: 'user', value: 'one' }] }],
    };
    const answers = await askPaced(service, request, { perSecond: 1_000, forMs: 2_500 });
    expect(answers).toMatchObject({ admitted: 2_500, refused: 0, failed: 0 });
    expectFigure({
      name: 'p99',
      value: percentile(answers, 99),
      unit: 'ms',
      below: roundTripMs * 2,
    });
  },
);
