import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { temporaryRules } from '../../support/dashboard-rules';
import { eventually } from '../../support/edge/eventually';
import { CUT_OFF, LEAST_CONTRAST } from '../../support/legibility';
import { startRedisServer } from '../../support/edge/redis-server';
import type { Service } from '../../support/edge/service';
import { ends, openDashboard, startWithRules } from './stage';

/** As Envoy Gateway makes them: the same text as key and as value. */
const ROUTE = 'httproute/default/checkout-payments-and-orders/rule/0/match/0/shop_example_com';
const CLIENT = '10.244.17.23-checkout-frontend-deployment-7f9c6d5b8-x2x9q';
const RULES = `domain: shop
descriptors:
  - key: user
    descriptors:
      - key: path
        rate_limit: { unit: day, requests_per_unit: 3 }
  - key: user
    value: ann
    descriptors:
      - key: path
        value: /cart/*
        rate_limit: { unit: day, requests_per_unit: 2 }
  - key: ${ROUTE}
    value: ${ROUTE}
    descriptors:
      - key: client
        rate_limit: { unit: day, requests_per_unit: 100 }
  - key: order
    rate_limit: { unit: minute, unit_multiplier: 5, requests_per_unit: 60, algorithm: gcra, burst: 9 }
  - key: order
    value: /top
    rate_limit: { unit: day, requests_per_unit: 1 }
`;

type Pairs = readonly (readonly [key: string, value: string])[];

const startWith = (env?: Readonly<Record<string, string>>) => startWithRules([RULES], env);

async function hit(service: Service, domain: string, pairs: Pairs): Promise<void> {
  const entries = pairs.map(([key, value]) => ({ key, value }));
  const body = JSON.stringify({ domain, descriptors: [{ entries }] });
  await (await fetch(`${service.http}/json`, { method: 'POST', body })).text();
}

async function explain(page: Page, domain: string, descriptor: string): Promise<void> {
  await page.getByLabel('Domain', { exact: true }).fill(domain);
  await page.getByLabel('Descriptor', { exact: true }).fill(descriptor);
  await page.getByRole('button', { name: 'Explain' }).click();
}

const steps = (page: Page) => page.locator('#why-answer .path > li');
const verdict = (page: Page) => page.locator('#why-answer .verdict');
const stands = (page: Page) =>
  page.locator('#why-answer .facts > div', { hasText: 'Current count' });
const LOOKS = [1400, 700, 390].flatMap((width) =>
  (['light', 'dark'] as const).map((colorScheme) => [width, colorScheme] as const),
);

/** What `check` answers in each look, which the page takes without being loaded anew. */
async function inEveryLook<T>(page: Page, check: () => Promise<T>): Promise<readonly T[]> {
  const answers: T[] = [];
  for (const [width, colorScheme] of LOOKS) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme });
    answers.push(await check());
  }
  return answers;
}

it('shows a descriptor as a path, whole and legible, in three widths, light and dark', async () => {
  const { service } = await startWith();
  const { page, said } = await openDashboard(`${service.debug}/ui`);
  await hit(service, 'shop', [
    ['user', 'ann'],
    ['path', '/cart/1'],
  ]);
  await explain(page, 'shop', 'user=ann, path=/cart/1');
  await verdict(page).filter({ hasText: 'OK no descriptor is over its limit' }).waitFor();
  expect(await steps(page).allTextContents()).toEqual([
    'shop',
    'user=annby its value, narrow.yaml:7:5passed over: user, narrow.yaml:3:5: a rule with exactly this value comes first',
    'path=/cart/1by the rule path=/cart/*, wildcard, narrow.yaml:10:9',
    '2 per daynarrow.yaml:12:21',
  ]);
  expect(await stands(page).textContent()).toMatch(
    /^Current count1 hit, expires in \d+ (?:h|min)$/,
  );
  const topsInLooks = await inEveryLook(page, () =>
    steps(page).evaluateAll((all) =>
      all.map((one) => (one as unknown as Element).getBoundingClientRect().top),
    ),
  );
  for (const tops of topsInLooks) expect(tops).toEqual([...tops].sort((a, b) => a - b));

  await hit(service, 'shop', [
    [ROUTE, ROUTE],
    ['client', CLIENT],
  ]);
  const hot = page.locator('#hot li', { hasText: 'client=10.244' });
  await hot.getByRole('button').click();
  const level = steps(page).filter({ hasText: 'httproute' });
  await level.waitFor();
  expect(await level.locator('summary').textContent()).toMatch(/^httproute.*….*_com$/);
  const cutOff = await inEveryLook(page, () => page.evaluate(CUT_OFF));
  expect(cutOff).toEqual(LOOKS.map(() => []));
  const contrasts = await inEveryLook(page, () => page.evaluate<number>(LEAST_CONTRAST));
  expect(contrasts.filter((contrast) => contrast < 4.5)).toEqual([]);
  expect(said).toEqual([]);
});

interface Element {
  getBoundingClientRect(): { readonly top: number };
}

it('explains what the list of descriptors without a rule shows, long values and commas included', async () => {
  const { service } = await startWith();
  const { page } = await openDashboard(`${service.debug}/ui`);
  await page.locator('#dot[data-state=good]').waitFor();
  await hit(service, 'shop', [
    [ROUTE, ROUTE],
    ['klient', 'a, b=c'],
  ]);
  await hit(service, 'staging', [['user', 'ann']]);
  const unmatched = page.locator('#unmatched li');
  await unmatched.filter({ hasText: 'klient' }).getByRole('button').click();
  const end = steps(page).last();
  await end.filter({ hasText: 'no limit: no entry for key' }).waitFor();
  expect(await steps(page).nth(2).textContent()).toBe('klient=a, b=c');
  expect(await end.textContent()).toContain('the nearest is "client"');
  await page.getByRole('button', { name: 'Explain' }).click();
  await eventually(async () => {
    expect(await page.locator('#why-answer[aria-busy]').count()).toBe(0);
    expect(await steps(page).nth(2).textContent()).toBe('klient=a, b=c');
  });

  await unmatched.filter({ hasText: 'staging' }).getByRole('button').click();
  await end.filter({ hasText: 'no limit: unknown domain' }).waitFor();
  expect(await steps(page).count()).toBe(2);
});

it('says a limit that is more than hits per unit in words', async () => {
  const { service } = await startWith();
  const { page } = await openDashboard(`${service.debug}/ui`);
  await page.locator('#dot[data-state=good]').waitFor();
  await explain(page, 'shop', 'order=7');
  await steps(page)
    .filter({ hasText: /^60 per 5 minutes, bursts of 9/ })
    .waitFor();
});

it('says that a path has a query, without which another rule would match', async () => {
  const { service } = await startWith();
  const { page } = await openDashboard(`${service.debug}/ui`);
  await page.locator('#dot[data-state=good]').waitFor();
  await explain(page, 'shop', 'order=/top?x');
  await page.getByText('without the query of its path it would match: order=/top').waitFor();
});

it('takes a hot key by keyboard, and moves to the answer', async () => {
  const { service } = await startWith();
  const { page } = await openDashboard(`${service.debug}/ui`);
  await page.locator('#dot[data-state=good]').waitFor();
  const pairs: Pairs = [
    ['user', 'bob'],
    ['path', '/a, b'],
  ];
  for (let i = 0; i < 4; i++) await hit(service, 'shop', pairs);
  await page.getByRole('button', { name: 'why? shop user=bob › path=/a, b' }).focus();
  await page.keyboard.press('Enter');
  await verdict(page).filter({ hasText: 'OVER_LIMIT the descriptor is over a limit' }).waitFor();
  expect(await page.evaluate('document.activeElement.id')).toBe('why');
  await page.getByText(/^As of \d\d:\d\d:\d\d UTC\.$/).waitFor();
  expect(await stands(page).textContent()).toContain('4 hits');
  await page.keyboard.press('Tab');
  expect(await page.evaluate('document.activeElement.id')).toBe('why-domain');
});

it('has room for a finger, and brings the answer into view', async () => {
  const { service } = await startWith();
  const viewport = { width: 390, height: 800 };
  const { page } = await openDashboard(`${service.debug}/ui`, {
    viewport,
    hasTouch: true,
    isMobile: true,
  });
  await page.locator('#dot[data-state=good]').waitFor();
  await hit(service, 'shop', [
    ['user', 'bob'],
    ['path', '/'],
  ]);
  const button = page.locator('#hot').getByRole('button');
  await button.waitFor();
  for (const one of [button, page.locator('#why-domain'), page.locator('#why-form button')])
    expect((await one.boundingBox())?.height).toBeGreaterThanOrEqual(40);
  await button.tap();
  await verdict(page).waitFor();
  await eventually(async () => {
    const top = (await page.locator('#why').boundingBox())?.y ?? NaN;
    expect(top).toBeGreaterThanOrEqual(-1);
    expect(top).toBeLessThan(400);
  });
});

it('resets a counter after a question, with the token, and only where that is allowed', async () => {
  const redis = await startRedisServer();
  ends.push(() => redis.stop());
  const folder = await temporaryRules([]);
  ends.push(() => rm(folder.folder, { recursive: true }));
  const token = join(folder.folder, 'token');
  await writeFile(token, 's3cret\n');
  const { service } = await startWith({
    BACKEND_TYPE: 'redis',
    REDIS_URL: `127.0.0.1:${String(redis.port)}`,
    ADMIN_API: 'write',
    ADMIN_TOKEN_FILE: token,
  });
  const { page } = await openDashboard(`${service.debug}/ui`, {
    httpCredentials: { username: 'operator', password: 's3cret' },
  });
  await page.locator('#dot[data-state=good]').waitFor();
  const pairs: Pairs = [
    ['user', 'ann'],
    ['path', '/cart/1'],
  ];
  for (let i = 0; i < 3; i++) await hit(service, 'shop', pairs);
  await explain(page, 'shop', 'user=ann, path=/cart/1');
  await verdict(page).filter({ hasText: 'OVER_LIMIT' }).waitFor();
  expect(await stands(page).textContent()).toContain('3 hits');

  const pendingRequests: string[] = [];
  const answers = [false, true];
  page.on('dialog', (dialog) => {
    pendingRequests.push(dialog.message());
    void (answers.shift() === true ? dialog.accept() : dialog.dismiss());
  });
  const reset = page.getByRole('button', { name: 'Reset the counter' });
  await reset.click();
  await explain(page, 'shop', 'user=ann, path=/cart/1');
  await verdict(page).filter({ hasText: 'OVER_LIMIT' }).waitFor();
  expect(await stands(page).textContent()).toContain('3 hits');
  await reset.click();
  await page.getByText('Reset from 3 hits.').waitFor();
  await verdict(page).filter({ hasText: 'OK' }).waitFor();
  expect(await stands(page).textContent()).toContain('0 hits');
  const pending = 'Reset the counter of user=ann › path=/cart/1 in shop? Its hits are forgotten.';
  expect(pendingRequests).toEqual([pending, pending]);

  const { page: stranger } = await openDashboard(`${service.debug}/ui`, {
    httpCredentials: { username: 'operator', password: 'guessed' },
  });
  await stranger.locator('#dot[data-state=good]').waitFor();
  await explain(stranger, 'shop', 'user=ann, path=/cart/1');
  await stranger.locator('#why-answer .wrong', { hasText: 'token' }).waitFor();
});

it.each([
  ['read', true],
  ['off', false],
])('with ADMIN_API=%s never resets, and shows the box: %s', async (ADMIN_API, isShown) => {
  const { service } = await startWith({ ADMIN_API });
  const { page } = await openDashboard(`${service.debug}/ui`);
  await page.locator('#dot[data-state=good]').waitFor();
  await hit(service, 'shop', [
    ['user', 'bob'],
    ['path', '/'],
  ]);
  await page.locator('#hot li').waitFor();
  expect(await page.locator('#why').isVisible()).toBe(isShown);
  expect(await page.locator('#hot').getByRole('button').count()).toBe(isShown ? 1 : 0);
  if (!isShown) return;
  await page.locator('#hot').getByRole('button').click();
  await verdict(page).waitFor();
  expect(await page.getByRole('button', { name: 'Reset the counter' }).count()).toBe(0);
});

it('says what is wrong with the form, and that the store or the service does not answer', async () => {
  const redis = await startRedisServer();
  ends.push(() => redis.stop());
  const env = { BACKEND_TYPE: 'redis', REDIS_URL: `127.0.0.1:${String(redis.port)}` };
  const { service } = await startWith(env);
  const { page } = await openDashboard(`${service.debug}/ui`);
  await page.locator('#dot[data-state=good]').waitFor();
  const wrong = page.locator('#why-answer .wrong');
  await explain(page, 'shop', 'nonsense');
  await wrong.filter({ hasText: 'Write the descriptor as key=value' }).waitFor();

  redis.pause();
  await explain(page, 'shop', 'user=bob, path=/');
  await stands(page).locator('[data-state=bad]').waitFor();
  expect(await steps(page).last().textContent()).toContain('3 per day');

  await service.stop('SIGKILL');
  await explain(page, 'shop', 'user=bob, path=/');
  await wrong.filter({ hasText: 'no answer from the service' }).waitFor();
});
