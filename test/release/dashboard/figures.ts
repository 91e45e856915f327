import type { Page } from 'playwright-core';
import { eventually } from '../../support/edge/eventually';
import { CUT_OFF, OVERLAPPING } from '../../support/legibility';
import { startRedisServer } from '../../support/edge/redis-server';
import { ask, type Service } from '../../support/edge/service';
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
        'Store time– not called: circuit breaker open',
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

const BUDGETS = `domain: llm
descriptors:
  - key: user
    rate_limits:
      - { unit: day, requests_per_unit: 50000, calendar: true }
      - { unit: hour, requests_per_unit: 90000, algorithm: gcra, burst: 40000 }
      - { algorithm: in_flight, requests_per_unit: 4 }
    reserve: { lease: 10m }
    block: { after: 2, for: 1h }
`;

async function reserve({ http }: Service, user: string, id: string, hits: number): Promise<void> {
  const entries = Object.entries({ user, reserve: id }).map(([key, value]) => ({ key, value }));
  const descriptors = [{ entries, hitsAddend: hits }];
  const body = JSON.stringify({ domain: 'llm', descriptors });
  await (await fetch(`${http}/json`, { method: 'POST', body })).text();
}

it('shows every limit of a list, what is open and for how long a key is blocked, each text in its place', async () => {
  const { service } = await startWithRules([BUDGETS]);
  const { page, said } = await openDashboard(`${service.debug}/ui`);
  await page.locator('#dot[data-state=good]').waitFor();
  const keys = page.locator('#hot li');
  await eventually(async () => {
    await reserve(service, 'ann', 'a', 12_000);
    await reserve(service, 'ann', 'b', 300);
    await reserve(service, 'bob', 'c', 90_000);
    expect(await keys.count()).toBe(2);
  });
  const ann = keys.filter({ hasText: 'user=ann' }).locator('.count');
  await ann.filter({ hasText: '12,300 held' }).waitFor();
  expect((await ann.textContent())?.replace(/^over /, '')).toBe(
    '12,300 of 50,000 per calendar day, 12,300 of 40,000 at once, 90,000 per hour, 2 of 4 in flight; 2 open, 12,300 held',
  );
  const bob = keys.filter({ hasText: 'user=bob' }).locator('.count');
  await bob.filter({ hasText: /in flight; blocked for \d+ min$/ }).waitFor();
  const limit = page.locator('#table .limit');
  expect(await limit.textContent()).toMatch(
    /^50,000 per calendar day, 90,000 per hour .+ in flight/,
  );
  const zones = page.locator('#facts > div', { hasText: 'Time zones' });
  expect(await zones.textContent()).toMatch(/^Time zones20\d\d[a-z]+ of (?:Weir|Node|the system)$/);
  for (const width of [1400, 700, 390]) {
    await page.setViewportSize({ width, height: 900 });
    expect([width, await page.evaluate(OVERLAPPING)]).toEqual([width, []]);
    expect([width, await page.evaluate(CUT_OFF)]).toEqual([width, []]);
  }
  expect(said).toEqual([]);
});

it('explains what is left of each limit of a list, and that its domain charges together', async () => {
  const rules = BUDGETS.replace('domain: llm\n', 'domain: llm\ncharge: together\n');
  const { service } = await startWithRules([rules]);
  await reserve(service, 'ann', 'a', 12_000);
  const { page, said } = await openDashboard(`${service.debug}/ui`);
  await page.locator('#dot[data-state=good]').waitFor();
  await page.getByLabel('Domain', { exact: true }).fill('llm');
  await page.getByLabel('Descriptor', { exact: true }).fill('user=ann');
  await page.getByRole('button', { name: 'Explain' }).click();
  const fact = (name: string) =>
    page.locator('#why-answer .facts > div').filter({ has: page.locator('dt', { hasText: name }) });
  await fact('Left').waitFor();
  expect(await fact('Left').textContent()).toMatch(
    /^Leftcalendar_day: 38,000, resets in \S+ \S+; hour_gcra: 28,000, resets in \d+ min; in_flight: 3$/,
  );
  expect(await fact('Current count').textContent()).toMatch(/; 1 open, 12,000 held$/);
  await page.locator('#why-answer .verdict .chip', { hasText: 'charged together' }).waitFor();
  expect([await page.evaluate(OVERLAPPING), await page.evaluate(CUT_OFF)]).toEqual([[], []]);
  expect(said).toEqual([]);
});

const LEASED = `domain: shop
descriptors:
  - key: tenant
    rate_limit: { unit: year, requests_per_unit: 1000000, leased: true }
`;

it('marks what is answered from a lease, and says how much of it is left', async () => {
  const redis = await startRedisServer();
  ends.push(() => redis.stop());
  const address = `127.0.0.1:${String(redis.port)}`;
  const env = { BACKEND_TYPE: 'redis', REDIS_URL: address, LEASE_TIME: '10s' };
  const { service } = await startWithRules([LEASED], env);
  const { page, said } = await openDashboard(`${service.debug}/ui`);
  await page.locator('#dot[data-state=good]').waitFor();
  const line = page.locator('#hot li', { hasText: 'tenant=ann' });
  const chip = line.locator('.chip.leased');
  await ask(service, 'shop', 'tenant=ann');
  await line.waitFor();
  expect(await chip.isVisible()).toBe(false);
  await eventually(async () => {
    await Promise.all(Array.from({ length: 30 }, () => ask(service, 'shop', 'tenant=ann')));
    expect(await chip.isVisible()).toBe(true);
  });
  const count = page.locator('#why-answer .facts > div', { hasText: 'Current count' });
  // The hits above may have spent all of the lease: the next one takes another.
  await eventually(async () => {
    await ask(service, 'shop', 'tenant=ann');
    await line.getByRole('button').click();
    await count
      .filter({ hasText: /^Current count\d+ hits, .+; on lease: \d+ of \d+ are left here$/ })
      .waitFor({ timeout: 2_000 });
  });
  for (const width of [1400, 700, 390]) {
    await page.setViewportSize({ width, height: 900 });
    expect([width, await page.evaluate(OVERLAPPING)]).toEqual([width, []]);
    expect([width, await page.evaluate(CUT_OFF)]).toEqual([width, []]);
  }
  expect(said).toEqual([]);
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

it('says units once in the head and nothing but figures in each row, in three widths', async () => {
  const service = await startWith();
  const { page } = await openDashboard(`${service.debug}/ui`);
  await page.locator('#dot[data-state=good]').waitFor();
  for (const width of [1400, 700, 390]) {
    await page.setViewportSize({ width, height: 900 });
    const head = await page
      .locator('#table thead')
      .evaluate((one) => (one as unknown as { innerText: string }).innerText);
    expect(head).toMatch(width > 559 ? /hits\/s\s+near\/s/ : /rates per second\s+hits\s+near/);
    const cells = await page.locator('#table .figure').allTextContents();
    expect(cells.filter((text) => !/^[\d.,<]+$/.test(text))).toEqual([]);
  }
});
