import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { shouldRateLimit } from '../../../src/cli/call';
import { startStopwatch } from '../../support/edge/core-time';
import { expectFigure } from '../../support/edge/figure';
import { eventually } from '../../support/edge/eventually';
import { LEAST_CONTRAST } from '../../support/legibility';
import { startService, type Service } from '../../support/edge/service';
import { openDashboard, startWithRules } from './stage';

/** Asks as `ratelimit-client` does. */
function hit(service: Service, domain: string, entries: Record<string, string>, hits = 1) {
  const pairs = Object.entries(entries).map(([key, value]) => ({ key, value }));
  return shouldRateLimit({
    dialString: service.grpc,
    domain,
    descriptors: [{ entries: pairs }],
    hitsAddend: hits,
    timeoutMs: 5_000,
    json: false,
    tls: undefined,
  });
}

/** What the example limits in a minute, which may end between a hit and the look at it, is limited in a day here. */
const EXAMPLE = readFileSync(
  join(__dirname, '../../../examples/config/example.yaml'),
  'utf8',
).replaceAll('unit: minute', 'unit: day');

it('shows every domain with its keys, limits and hot values, and moves within 2.5 s', async () => {
  const { service } = await startWithRules([EXAMPLE]);
  const { page, requests, said } = await openDashboard(`${service.debug}/ui`);
  await page.locator('#status', { hasText: 'serving' }).waitFor();
  expect(await page.locator('#table h3').allTextContents()).toEqual(['example']);
  const listed = await page.locator('#table .rule').allTextContents();
  for (const line of [
    'try any1 per day',
    'remote_address any100 per day',
    'Level 2: path=/login5 per day',
    'remote_address=192.0.2.66blocked',
    'path=/static/*1,000 per second',
    'api_key any1,000 per hourshadow',
  ])
    expect(listed).toContain(line);
  expect(await page.locator('#hot-note').textContent()).toContain(
    'ratelimit-client -domain example -descriptors try=anybody',
  );

  const address = '203.0.113.1';
  await hit(service, 'example', { remote_address: address }, 130);
  const elapsedMs = startStopwatch(service.child);
  const value = page.locator('#table .value', { hasText: address }).first();
  await value.waitFor();
  expectFigure({ name: 'move', value: elapsedMs(), unit: 'ms', below: 2_500 });
  expect(await value.locator('.count').textContent()).toBe('130 of 100 hits');
  const hot = await page.locator('#hot li', { hasText: address }).first().textContent();
  expect(hot).toContain(`example remote_address=${address}`);
  expect(hot).toMatch(/over 130 of 100 per day, resets in \d+ (?:s|min|h)/);

  await hit(service, 'example', { remote_address: address, path: '/login' });
  await page.locator('#hot li', { hasText: `remote_address=${address} › path=/login` }).waitFor();
  expect(new Set(requests.map((url) => new URL(url).origin))).toEqual(new Set([service.debug]));
  expect(said).toEqual([]);
});

it('shows rates by rule: hits, near, refused, and what a rule in shadow let through', async () => {
  const service = await startService();
  const { page } = await openDashboard(`${service.debug}/ui`);
  await page.locator('#table').waitFor();
  await page.evaluate(NOTE_FIGURES);
  await hit(service, 'example', { api_key: 'team' }, 1_500);
  const seen = await eventually(async () => {
    const [first] = await page.evaluate<Record<Figure, number>[]>('seen');
    if (first === undefined) throw new Error('no figures yet');
    return first;
  });
  expect(seen.near).toBeGreaterThan(0);
  expect(seen.shadow / seen.hits).toBeCloseTo(500 / 1_500, 1);
  expect(seen.over).toBe(0);
});

type Figure = 'hits' | 'near' | 'over' | 'shadow';

/** Keeps the figures of the rule `api_key` whenever there are some: they are shown for one second only. */
const NOTE_FIGURES = `
  var seen = [];
  new MutationObserver(() => {
    const row = [...document.querySelectorAll('tr.row')].find((one) => one.textContent.includes('api_key'));
    const read = (kind) => Number(row.querySelector('.figure.' + kind + ' b').textContent.replace(',', ''));
    const figures = Object.fromEntries(['hits', 'near', 'over', 'shadow'].map((kind) => [kind, read(kind)]));
    if (figures.hits > 0) seen.push(figures);
  }).observe(document.getElementById('table'), { subtree: true, childList: true, characterData: true });
`;

it('fits 360 and 390 pixels without scrolling sideways, and is legible in light and dark', async () => {
  const { service, longest } = await startWithRules();
  const viewport = { width: 360, height: 740 };
  const { page, said } = await openDashboard(`${service.debug}/ui`, { viewport });
  await page.locator('#table').waitFor();
  await hit(service, 'narrow', { [longest]: longest }, 7);
  await page.locator('#hot li', { hasText: longest }).waitFor();
  for (const colorScheme of ['light', 'dark'] as const)
    for (const width of [360, 390]) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 740 });
      expect(await page.evaluate('document.scrollingElement.scrollWidth')).toBe(width);
      expect(await page.evaluate(LEAST_CONTRAST)).toBeGreaterThanOrEqual(4.5);
    }
  expect(said).toEqual([]);
});

it('shows texts of callers as texts', async () => {
  const service = await startService();
  const { page, said } = await openDashboard(`${service.debug}/ui`);
  await page.locator('#table').waitFor();
  const text = '<img src=x onerror=console.log(1)>"\'&amp;';
  await hit(service, 'example', { api_key: text });
  await page.locator('#hot li', { hasText: text }).waitFor();
  expect(await page.locator('#hot img').count()).toBe(0);
  expect(said).toEqual([]);
});

it('says what to do where no rules are, and shows them once they are loaded', async () => {
  const { service, folder, write } = await startWithRules([]);
  const { page } = await openDashboard(`${service.debug}/ui`);
  await page.locator('#rules-note .empty', { hasText: 'put a YAML file' }).waitFor();
  await write();
  await page.locator('#table h3', { hasText: 'narrow' }).waitFor();
  await writeFile(join(folder, 'config', 'more.yaml'), 'domain: later\ndescriptors: []\n');
  await page.locator('#table tbody', { hasText: 'No limits here' }).waitFor();
});

it('filters rules, keeping what they stand below', async () => {
  const service = await startService();
  const { page } = await openDashboard(`${service.debug}/ui`);
  await page.getByLabel('Show rules that contain').fill('login');
  const shown = page.locator('tr.row:visible .rule > .key');
  await eventually(async () => {
    expect(await shown.allTextContents()).toEqual(['remote_address', 'path=/login']);
  });
});

it('says when the connection is lost, and comes back with the service', async () => {
  const service = await startService();
  const { page } = await openDashboard(`${service.debug}/ui`);
  await page.locator('#status', { hasText: 'serving' }).waitFor();
  await service.stop();
  await page.locator('#status', { hasText: 'no connection, trying again' }).waitFor();
  const { port } = new URL(service.debug);
  await startService({ env: { DEBUG_PORT: port } });
  await page.locator('#status', { hasText: 'serving' }).waitFor();
});
