import fc from 'fast-check';
import { expectAgreement } from './explained';
import { startAlgorithmService, stepOf, type AlgorithmService } from '../support/algorithm-service';
import { describeWithStores, nearRedis, type NearRedis } from '../support/near-stores';

const START = 1_700_000_040;

/** One hit takes a minute and more to drain: keys of Redis expire by the time of day. */
const RULES = `domain: d
descriptors:
  - key: gcra
    rate_limit: { unit: hour, requests_per_unit: 60, algorithm: gcra, burst: 5 }
  - key: debt
    rate_limit: { unit: hour, requests_per_unit: 7, algorithm: gcra, charge_denied: true }
  - key: sliding
    rate_limit: { unit: hour, requests_per_unit: 9, algorithm: sliding_window }
  - key: slidingDebt
    rate_limit: { unit: hour, requests_per_unit: 9, algorithm: sliding_window, charge_denied: true }
  - key: guarded
    rate_limit: { unit: hour, requests_per_unit: 9, charge_denied: false }
`;

let server: NearRedis;
beforeAll(async () => {
  server = await nearRedis(START);
});
afterAll(() => server.client.quit());

/** Every key with its bytes and the end of its time to live, in unix milliseconds. */
async function dump({ client }: NearRedis): Promise<readonly (readonly unknown[])[]> {
  const keys = (await client.keys('*')).sort();
  return Promise.all(
    keys.map(async (key) => [key, await client.dumpBuffer(key), await client.pexpiretime(key)]),
  );
}

const STEPS = fc.array(
  fc.record({
    pauseMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 4_000_000 })),
    hits: fc.integer({ min: -4, max: 12 }),
    times: fc.integer({ min: 1, max: 3 }),
  }),
  { minLength: 1, maxLength: 10 },
);

describeWithStores.each(['memory', 'redis'])('explain, of counters in %s', (backend) => {
  let service: AlgorithmService;
  let nowMs = START * 1_000;
  let serial = 0;
  beforeAll(async () => {
    const redis = { port: server.port, readSeconds: () => nowMs / 1_000 };
    service = await startAlgorithmService({
      rules: RULES,
      startSeconds: START,
      redis: backend === 'redis' ? redis : undefined,
    });
  });
  afterAll(() => service.close());

  it.each(['gcra', 'debt', 'sliding', 'slidingDebt', 'guarded'])(
    'says code, remaining and reset of %s as the request is answered right after it, and leaves the store as it is',
    async (key) => {
      await fc.assert(
        fc.asyncProperty(STEPS, async (steps) => {
          serial += 1;
          for (const [index, { pauseMs, hits, times }] of steps.entries()) {
            nowMs += pauseMs;
            service.setClock(nowMs / 1_000);
            const step = stepOf(key, `v${String(serial)}`, hits, times);
            const unexplained = await dump(server);
            const explained = await service.explain(step);
            expect(await dump(server)).toEqual(unexplained);
            if (explained === undefined) throw new Error('nothing was asked');
            expectAgreement(explained, await service.perform(step), index);
          }
        }),
        { numRuns: 10 },
      );
    },
  );
});
