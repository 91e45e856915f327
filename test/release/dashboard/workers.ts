import { createTestClient } from '../../support/edge/grpc-client';
import { eventually } from '../../support/edge/eventually';
import { startRedisServer } from '../../support/edge/redis-server';
import { ends, openDashboard, startWithRules } from './stage';

/** What the dashboard shows of the processes that decide. */

const SHOP = `domain: shop
descriptors:
  - key: user
    rate_limit: { unit: day, requests_per_unit: 1000000 }
`;
const ANN = { domain: 'shop', descriptors: [{ entries: [{ key: 'user', value: 'ann' }] }] };

async function openWith(workers: number) {
  const redis = await startRedisServer();
  ends.push(() => redis.stop());
  const env = { WORKERS: String(workers), KVSTORE_URL: `127.0.0.1:${String(redis.port)}` };
  const { service } = await startWithRules([SHOP], env);
  const { page } = await openDashboard(`${service.debug}/ui`);
  await page.locator('#dot[data-state=good]').waitFor();
  return { service, page, redis };
}

it('lists several workers with their calls, the busy share of their loops and their restarts', async () => {
  const { service, page } = await openWith(2);
  const lines = () => page.locator('#workers > li').allInnerTexts();
  const quiet = /^Worker [12]\s+0 calls\/s\s+\d+(?:\.\d)?% busy, no restarts$/;
  await eventually(async () => {
    expect(await lines()).toEqual([expect.stringMatching(quiet), expect.stringMatching(quiet)]);
  });
  // The owner gives connections to the workers in turn.
  const clients = [createTestClient(service.grpc), createTestClient(service.grpc)];
  await eventually(async () => {
    await Promise.all(clients.map((client) => client.ask(ANN)));
    const rates = (await lines()).map((line) => /[^\s]+(?= calls\/s)/.exec(line)?.[0]);
    expect(rates).toEqual([expect.not.stringMatching(/^0$/), expect.not.stringMatching(/^0$/)]);
  });
  for (const client of clients) client.close();
});

it('says why calls fail, as the workers know it', async () => {
  const { service, page, redis } = await openWith(2);
  const failing = page.locator('#banner li', { hasText: 'of decisions fail' }).first();
  const client = createTestClient(service.grpc);
  redis.pause();
  await eventually(async () => {
    await client.ask(ANN);
    expect(await failing.textContent({ timeout: 100 })).toMatch(
      /Redis at 127\.0\.0\.1:\d+: .*(?:no answer|did not answer) within/,
    );
  });
  redis.resume();
  await eventually(async () => {
    await client.ask(ANN);
    expect(await page.locator('#dot').getAttribute('data-state')).toBe('good');
  });
  client.close();
});

it('shows no workers where one process decides', async () => {
  const { page } = await openWith(1);
  expect(await page.locator('#workers-part').isVisible()).toBe(false);
});
