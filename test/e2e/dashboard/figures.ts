import type { Page } from 'playwright-core';
import { eventually } from '../../support/eventually';
import { startRedisServer } from '../../support/redis-server';
import { ask } from '../../support/service';
import { ends, openDashboard, startWithRules } from './stage';

const SHOP = `domain: shop
descriptors:
  - key: user
    rate_limit: { unit: day, requests_per_unit: 5 }
  - key: path
    rate_limit: { unit: day, requests_per_unit: 1000 }
`;

const startWith = async (env: Readonly<Record<string, string>> = {}) =>
  (await startWithRules([SHOP], env)).service;

const tile = (page: Page, title: string) =>
  page.locator('.tile').filter({ has: page.locator('dt', { hasText: title }) });

it('shows failed decisions as a tile, the size of batches at the side, and no store time while the breaker is open', async () => {
  const redis = await startRedisServer();
  ends.push(() => redis.stop());
  const env = { BACKEND_TYPE: 'redis', REDIS_URL: `127.0.0.1:${String(redis.port)}` };
  const service = await startWith(env);
  const { page } = await openDashboard(`${service.debug}/ui`);
  await page.locator('#dot[data-state=good]').waitFor();
  expect(await page.locator('.tile dt').allTextContents()).toEqual([
    'Decisions',
    'Failed decisions',
    'Over the limit',
    'Response time',
    'Store time',
  ]);
  await page.locator('#facts dt', { hasText: 'Batch size' }).waitFor();
  expect(await tile(page, 'Failed decisions').textContent()).toBe('Failed decisions0 /snone');

  redis.pause();
  await eventually(
    async () => {
      for (let i = 0; i < 10; i++) void ask(service, 'shop', 'user=ann');
      await ask(service, 'shop', 'user=ann');
      expect(await tile(page, 'Store time').textContent()).toBe(
        'Store time– not asked: circuit breaker open',
      );
      expect(await tile(page, 'Failed decisions').textContent()).toMatch(
        /^Failed decisions\d+(?:\.\d)? \/s100% of decisions$/,
      );
    },
    { withinMs: 40_000 },
  );
});

it('says which component of health is down', async () => {
  const service = await startWith({ DRAIN_DELAY: '10s' });
  const { page } = await openDashboard(`${service.debug}/ui`);
  await page.locator('#dot[data-state=good]').waitFor();
  service.child.kill('SIGTERM');
  await page.locator('#banner li', { hasText: /^The health check fails: / }).waitFor();
  expect(await page.locator('#status').textContent()).toBe('not serving, 1 problem');
});

it('keeps the line of a key when the order changes, so that no bar moves from one key to another', async () => {
  const service = await startWith();
  const { page } = await openDashboard(`${service.debug}/ui`);
  const keys = () => page.locator('#hot .long').allTextContents();
  await eventually(async () => {
    await ask(service, 'shop', 'path=/a');
    await ask(service, 'shop', 'path=/a');
    await ask(service, 'shop', 'path=/b');
    expect(await keys()).toEqual(['path=/a', 'path=/b']);
  });
  await page.evaluate(
    "for (const line of document.querySelectorAll('#hot > li')) line.mark = line.querySelector('.long').textContent",
  );
  await eventually(async () => {
    for (let i = 0; i < 10; i++) await ask(service, 'shop', 'path=/b');
    expect(await keys()).toEqual(['path=/b', 'path=/a']);
  });
  const marks = "[...document.querySelectorAll('#hot > li')].map((line) => line.mark)";
  expect(await page.evaluate(marks)).toEqual(['path=/b', 'path=/a']);
});

it.each([1400, 700, 390])(
  'says units once in the head and nothing but figures in each row, %d pixels wide',
  async (width) => {
    const service = await startWith();
    const viewport = { width, height: 900 };
    const { page } = await openDashboard(`${service.debug}/ui`, { viewport });
    await page.locator('#dot[data-state=good]').waitFor();
    const head = await page
      .locator('#table thead')
      .evaluate((one) => (one as unknown as { innerText: string }).innerText);
    expect(head).toMatch(width > 559 ? /hits\/s\s+near\/s/ : /rates per second\s+hits\s+near/);
    const cells = await page.locator('#table .figure').allTextContents();
    expect(cells.filter((text) => !/^[\d.,<]+$/.test(text))).toEqual([]);
  },
);
