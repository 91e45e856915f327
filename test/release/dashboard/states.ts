import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { temporaryRules } from '../../support/dashboard-rules';
import { eventually } from '../../support/edge/eventually';
import { OVERLAPPING } from '../../support/legibility';
import { manyRules } from '../../support/many-rules';
import { pauseProcess } from '../../support/pause-process';
import { startRedisServer } from '../../support/edge/redis-server';
import { ask, startService } from '../../support/edge/service';
import { startSubPathProxy } from '../../support/sub-path-proxy';
import { ends, openDashboard, startWithRules } from './stage';

const SHOP = `domain: shop
descriptors:
  - key: user
    rate_limit: { unit: day, requests_per_unit: 5 }
  - key: plan
    value: free
    shadow_mode: true
    rate_limit: { unit: day, requests_per_unit: 0 }
  - key: path
    rate_limit: { unit: day, requests_per_unit: 1000 }
`;
/** As Envoy Gateway makes them: the same text as key and as value. */
const ROUTE = 'httproute/default/checkout-payments-and-orders/rule/0/match/0/shop_example_com';
const CLIENT = '10.244.17.23-checkout-frontend-deployment-7f9c6d5b8-x2x9q';
const GATEWAY = `domain: gateway
descriptors:
  - key: ${ROUTE}
    value: ${ROUTE}
    descriptors:
      - key: client
        rate_limit: { unit: day, requests_per_unit: 100 }
`;

const startWith = (text: string, env?: Readonly<Record<string, string>>) =>
  startWithRules([text], env);

const width = (page: Page) => page.evaluate<number>('document.scrollingElement.scrollWidth');
const ruleKeys = (page: Page) => page.locator('tr.row:visible .rule > .key').allTextContents();

it('says how many decisions fail, why and since when, and is green only before and after', async () => {
  const redis = await startRedisServer();
  ends.push(() => redis.stop());
  const env = { BACKEND_TYPE: 'redis', REDIS_URL: `127.0.0.1:${String(redis.port)}` };
  const { service } = await startWith(SHOP, env);
  const viewport = { width: 390, height: 800 };
  const { page, said } = await openDashboard(`${service.debug}/ui`, { viewport });
  await page.locator('#dot[data-state=good]').waitFor();
  expect(await page.locator('#banner').isVisible()).toBe(false);
  await ask(service, 'shop', 'user=ann');

  redis.pause();
  const failing = page.locator('#banner li', { hasText: 'of decisions fail' }).first();
  await eventually(async () => {
    await ask(service, 'shop', 'user=ann');
    expect(await failing.isVisible()).toBe(true);
  });
  const text = (await failing.textContent()) ?? '';
  expect(text).toMatch(/^\d+(?:\.\d)?% of decisions fail \([^)]+\/s\) since \d\d:\d\d:\d\d UTC/);
  const store = `127\\.0\\.0\\.1:${String(redis.port)}`;
  expect(text).toMatch(
    new RegExp(`Redis at ${store}: (?:no answer|redis ${store} did not answer) within`),
  );
  expect(await page.locator('#dot').getAttribute('data-state')).toBe('bad');
  expect(await page.title()).toBe('(!) Weir');
  await page.getByText(/^most decisions fail, \d problems?$/).waitFor();
  expect(await width(page)).toBe(390);

  redis.resume();
  await eventually(
    async () => {
      await ask(service, 'shop', 'user=ann');
      expect(await page.locator('#dot').getAttribute('data-state')).toBe('good');
    },
    { withinMs: 40_000 },
  );
  expect(await page.locator('#banner').isVisible()).toBe(false);
  expect(await page.title()).toBe('Weir');
  expect(said).toEqual([]);
});

it('names the file and the line of rules that were not loaded, until they are good', async () => {
  const { service, folder } = await startWith(SHOP);
  const { page } = await openDashboard(`${service.debug}/ui`);
  await page.locator('#dot[data-state=good]').waitFor();
  const file = join(folder, 'config', 'broken.yaml');
  await writeFile(file, 'domain: broken\ndescriptors:\n  - rate_limit: {}\n');
  const wrong = page.locator('#banner li', { hasText: 'the last valid ones stay in force' });
  await wrong
    .getByText(/^broken\.yaml:3:\d+: /)
    .first()
    .waitFor();
  expect(await page.locator('#status').textContent()).toBe('serving, 1 problem');
  await rm(file);
  await page.locator('#dot[data-state=good]').waitFor();
});

it('says that the limits of a hash are gone, until the hash holds limits again', async () => {
  const redis = await startRedisServer();
  ends.push(() => redis.stop());
  await redis.client.hset('tenant_limits', { gold: '5000' });
  const limit =
    '{ unit: year, requests_per_unit: 2, limits_from: { key: tenant_limits, refresh: 1s } }';
  const { service } = await startWith(
    `domain: shop\ndescriptors:\n  - key: tenant\n    rate_limit: ${limit}\n`,
    { BACKEND_TYPE: 'kvstore', KVSTORE_URL: `127.0.0.1:${String(redis.port)}` },
  );
  const { page } = await openDashboard(`${service.debug}/ui`);
  const lost = page.locator('#banner li', {
    hasText: 'all limits of the hash "tenant_limits" are gone',
  });
  const untilVisible = (isVisible: boolean) =>
    eventually(async () => {
      await ask(service, 'shop', 'tenant=gold');
      expect(await lost.isVisible()).toBe(isVisible);
    });
  await eventually(async () => {
    const { body } = await ask(service, 'shop', 'tenant=gold');
    expect(body.statuses?.[0]).toMatchObject({ currentLimit: { requestsPerUnit: 5_000 } });
  });
  await untilVisible(false);
  await redis.client.del('tenant_limits');
  await untilVisible(true);
  await redis.client.hset('tenant_limits', { gold: '5000' });
  await untilVisible(false);
});

it('says that there are no rules', async () => {
  const rules = await temporaryRules([]);
  ends.push(() => rm(rules.folder, { recursive: true }));
  const service = await startService({ env: rules.env });
  const { page } = await openDashboard(`${service.debug}/ui`);
  await page.locator('#banner', { hasText: 'every call is answered' }).waitFor();
});

it('greys its figures and says of when they are, while no event comes', async () => {
  const { service } = await startWith(SHOP);
  const { page } = await openDashboard(`${service.debug}/ui`);
  await page.locator('#dot[data-state=good]').waitFor();
  const color = () =>
    page.evaluate<string>("getComputedStyle(document.querySelector('.tile dd')).color");
  const fresh = await color();
  pauseProcess(service.child.pid);
  await page.getByText(/^Figures as of \d\d:\d\d:\d\d UTC$/).waitFor();
  expect(await color()).not.toBe(fresh);
  await page.locator('#banner', { hasText: 'No news from the service since' }).waitFor();
  expect(await page.locator('#dot').getAttribute('data-state')).toBe('bad');
  service.child.kill('SIGCONT');
  await page.locator('#dot[data-state=good]').waitFor();
  expect(await page.locator('#as-of').isVisible()).toBe(false);
  expect(await color()).toBe(fresh);
});

it('lists domains and descriptors without a rule, with how often they came', async () => {
  const { service } = await startWith(SHOP);
  const { page } = await openDashboard(`${service.debug}/ui`);
  await page.locator('#dot[data-state=good]').waitFor();
  await ask(service, 'shop', 'plan=paid');
  await ask(service, 'shop', 'plan=paid');
  await ask(service, 'staging', 'user=ann');
  const listed = page.locator('#unmatched > li');
  await listed.filter({ hasText: 'shop plan=paid' }).filter({ hasText: '2 seen' }).waitFor();
  await listed.filter({ hasText: 'staging' }).filter({ hasText: 'domain without rules' }).waitFor();
});

it('tells refusals from what a rule in shadow let through, and says that 0 per day is blocked', async () => {
  const { service } = await startWith(SHOP);
  const { page } = await openDashboard(`${service.debug}/ui`);
  await page.locator('tr.row', { hasText: 'plan=free' }).getByText('blocked').waitFor();
  const tile = page.locator('.tile', { hasText: 'Over the limit' });
  await eventually(async () => {
    await ask(service, 'shop', 'plan=free');
    expect(await tile.textContent()).toMatch(
      /^Over the limit0 hits\/s0% of hits refused, .*shadow/,
    );
  });
});

it('sorts rules by what happens, shows only what moves, folds and filters', async () => {
  const { service } = await startWith(SHOP);
  const { page } = await openDashboard(`${service.debug}/ui`);
  await page.locator('#dot[data-state=good]').waitFor();
  expect(await ruleKeys(page)).toEqual(['user', 'plan=free', 'path']);
  await page.getByLabel('Sort by').selectOption('hits');
  await eventually(async () => {
    await ask(service, 'shop', 'path=/');
    expect(await ruleKeys(page)).toEqual(['path', 'user', 'plan=free']);
  });
  await page.getByLabel('Sort by').selectOption('over');
  await eventually(async () => {
    await ask(service, 'shop', 'user=ann');
    expect((await ruleKeys(page))[0]).toBe('user');
  });
  await page.getByLabel('Only what moves').check();
  await eventually(async () => {
    await ask(service, 'shop', 'path=/');
    expect((await ruleKeys(page)).sort()).toEqual(['path', 'user']);
  });
  await page.getByLabel('Only what moves').uncheck();
  await page.getByRole('button', { name: 'Fold all' }).click();
  expect(await ruleKeys(page)).toEqual([]);
  await page.getByLabel('Show rules that contain').fill('plan');
  expect(await ruleKeys(page)).toEqual(['plan=free']);
});

it('shows 50 of 300 rules, those that move first, and all when asked', async () => {
  const { service } = await startWith(manyRules(300, 10));
  const viewport = { width: 390, height: 800 };
  const { page } = await openDashboard(`${service.debug}/ui`, { viewport });
  await page.locator('#dot[data-state=good]').waitFor();
  expect(await page.locator('tr.row:visible').count()).toBe(50);
  await eventually(async () => {
    await ask(service, 'many', 'path=/api/v1/resource-140');
    expect((await ruleKeys(page))[0]).toContain('resource-140');
  });
  expect(await width(page)).toBe(390);
  await page.getByRole('button', { name: 'Show 250 more rules' }).click();
  expect(await page.locator('tr.row:visible').count()).toBe(300);
});

it('cuts long keys in the middle, never says one twice, and opens them by keyboard', async () => {
  const { service } = await startWith(GATEWAY);
  const viewport = { width: 390, height: 800 };
  const { page } = await openDashboard(`${service.debug}/ui`, { viewport });
  const level = page.locator('tr.row', { hasText: 'httproute' }).locator('details');
  await level.waitFor();
  expect(await level.locator('summary').textContent()).toMatch(/^httproute\/.{3,20}….{3,20}_com$/);
  expect(await level.locator('.full').textContent()).toBe(ROUTE);
  await level.locator('summary').focus();
  await page.keyboard.press('Enter');
  await level.locator('.full').waitFor();

  const entries = [
    { key: ROUTE, value: ROUTE },
    { key: 'client', value: CLIENT },
  ];
  const body = JSON.stringify({ domain: 'gateway', descriptors: [{ entries }] });
  await fetch(`${service.http}/json`, { method: 'POST', body });
  const hot = page.locator('#hot li', { hasText: 'client=10.244' }).locator('details');
  expect(await hot.locator('summary').textContent()).toMatch(/^client=10\.244.*….*x2x9q$/);
  expect(await hot.locator('.full').textContent()).toBe(`gateway ${ROUTE} › client=${CLIENT}`);
  expect(await width(page)).toBe(390);
});

it('reaches every control by keyboard', async () => {
  const { service } = await startWith(GATEWAY);
  const { page } = await openDashboard(`${service.debug}/ui`);
  await page.locator('#dot[data-state=good]').waitFor();
  const reached = new Set<string>();
  for (let i = 0; i < 15; i++) {
    await page.keyboard.press('Tab');
    reached.add(
      await page.evaluate<string>(
        "document.activeElement.id || document.activeElement.getAttribute('aria-label') || document.activeElement.localName",
      ),
    );
  }
  for (const one of ['filter', 'sort', 'moving', 'fold', 'What is below gateway', 'summary'])
    expect(reached).toContain(one);
});

it('is a table with heads of columns and rows for screen readers', async () => {
  const { service } = await startWith(SHOP);
  const { page } = await openDashboard(`${service.debug}/ui`);
  const table = page.getByRole('table', { name: 'Rules by domain' });
  await table.getByRole('columnheader', { name: 'hits/s', exact: true }).waitFor();
  await table.getByRole('rowheader', { name: /user any ?5 per day/ }).waitFor();
});

it('says which instance it shows, and the time', async () => {
  const { service } = await startWith(SHOP);
  const { page } = await openDashboard(`${service.debug}/ui`);
  await page
    .getByText(
      /^\S+, version \d+\.\d+\.\d+(?:-rc\.\d+)?, since \d{4}-\d\d-\d\d \d\d:\d\d UTC \(\d+ (?:s|min)\)$/,
    )
    .waitFor();
  await page.getByText(/^\d\d:\d\d:\d\d UTC$/).waitFor();
});

it.each(['/ui', '/ui/'])('works below a path, opened as %s', async (path) => {
  const { service } = await startWith(SHOP);
  const proxy = await startSubPathProxy(service.debug, '/api/v1/namespaces/x/pods/y:6070/proxy');
  ends.push(() => proxy.close());
  const { page, said } = await openDashboard(`${proxy.address}${path}`);
  await page.locator('#dot[data-state=good]').waitFor();
  const links = await page
    .locator('.pages a')
    .evaluateAll((all) => all.map((link) => (link as unknown as { href: string }).href));
  expect(links).toEqual(
    ['rlconfig', 'stats', 'debug/pprof/'].map((name) => `${proxy.address}/${name}`),
  );
  expect(said).toEqual([]);
});

/** Rules of four levels, with every word that a limit can have. */
const WORDY = `domain: a-domain-with-a-long-name-of-a-team
descriptors:
  - key: tenant
    descriptors:
      - key: region
        descriptors:
          - key: plan
            shadow_mode: true
            rate_limit:
              { unit: minute, unit_multiplier: 5, requests_per_unit: 600, algorithm: gcra, burst: 20 }
            descriptors:
              - key: path
                rate_limit: { unit: day, requests_per_unit: 4000000000, name: named-as-nobody-would }
  - key: bucket
    rate_limit: { unit: hour, requests_per_unit: 10, algorithm: gcra, burst: 3 }
`;

it('lays no text over another on a narrow page, and its fold buttons can be hit', async () => {
  const { service } = await startWith(WORDY);
  const viewport = { width: 390, height: 800 };
  const { page } = await openDashboard(`${service.debug}/ui`, { viewport });
  await page.locator('#dot[data-state=good]').waitFor();
  const entries = ['tenant', 'region', 'plan'].map((key) => ({
    key,
    value: `${key}-of-some-length`,
  }));
  const body = JSON.stringify({
    domain: 'a-domain-with-a-long-name-of-a-team',
    descriptors: [{ entries }, { entries: [{ key: 'bucket', value: 'ann' }] }],
    hitsAddend: 2,
  });
  const row = page.locator('tr.values', { hasText: 'plan-of-some-length' });
  await eventually(async () => {
    await fetch(`${service.http}/json`, { method: 'POST', body });
    expect(await row.isVisible()).toBe(true);
  });
  expect(await page.evaluate<string[]>(OVERLAPPING)).toEqual([]);
  expect(await width(page)).toBe(390);
  const folds = await page.locator('.fold:visible').all();
  expect(folds.length).toBeGreaterThan(3);
  for (const fold of folds) {
    const box = await fold.boundingBox();
    expect(Math.min(box?.width ?? 0, box?.height ?? 0)).toBeGreaterThanOrEqual(24);
  }
});

it('says how much of a burst is in use, and colours it in one way everywhere', async () => {
  const { service } = await startWith(WORDY);
  const { page } = await openDashboard(`${service.debug}/ui`);
  await page.locator('#dot[data-state=good]').waitFor();
  const hot = page.locator('#hot li', { hasText: 'bucket=ann' });
  const value = page.locator('li.value', { hasText: 'ann' });
  const domain = 'a-domain-with-a-long-name-of-a-team';
  const both = async (state: string, text: string) => {
    await eventually(async () => {
      const states = await Promise.all(
        [hot, value].map((one) => one.locator('.bar').getAttribute('data-state')),
      );
      expect(states).toEqual([state, state]);
      expect(await value.textContent()).toContain(text);
      expect(await hot.textContent()).toContain(`${text}, 10 per hour`);
    });
  };
  for (let i = 0; i < 3; i += 1) await ask(service, domain, 'bucket=ann');
  await both('near', '3 of 3 (burst)');
  await ask(service, domain, 'bucket=ann');
  await both('over', '3 of 3 (burst)');
});
