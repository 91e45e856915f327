import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { shouldRateLimit } from '../../src/client/call';
import { launchChromium, openPage } from '../support/chromium';
import { eventually } from '../support/eventually';
import { temporaryRules } from '../support/dashboard-rules';
import { startService, stopServices, type Service } from '../support/service';

let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser.close());
afterEach(stopServices);

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

it('shows every domain with its keys, limits and hot values, and moves within 2.5 s', async () => {
  const service = await startService();
  const { page, requests, said } = await openPage(browser, `${service.debug}/ui`);
  await page.locator('#status', { hasText: 'serving' }).waitFor();
  expect(await page.locator('.domain h3').allTextContents()).toEqual(['example']);
  const listed = await page.locator('.domain .rule:not(h3)').allTextContents();
  for (const line of [
    'try any1 per minute',
    'remote_address any100 per minute',
    'path=/login5 per minute',
    'remote_address=192.0.2.660 per day',
    'path=/static/*1,000 per second',
    'api_key any1,000 per hourshadow',
  ])
    expect(listed).toContain(line);
  expect(await page.locator('#hot-note').textContent()).toContain(
    'ratelimit-client -domain example -descriptors try=anybody',
  );

  const limited = page.locator('.domain > ul > li', { hasText: '100 per minute' }).first();
  await hit(service, 'example', { remote_address: '203.0.113.9' }, 130);
  const sentAt = Date.now();
  await limited.locator('.value', { hasText: '203.0.113.9' }).first().waitFor({ timeout: 2_500 });
  expect(Date.now() - sentAt).toBeLessThan(2_500);
  expect(await limited.locator('.value .count').first().textContent()).toBe('130 / 100');
  const hot = page.locator('#hot li').first();
  expect(await hot.textContent()).toContain('example remote_address=203.0.113.9');
  expect(await hot.textContent()).toMatch(/over 130 of 100 per minute, resets in \d+ (?:s|min)/);

  await hit(service, 'example', { remote_address: '203.0.113.9', path: '/login' });
  await page.locator('.domain .value', { hasText: '203.0.113.9 › /login' }).waitFor();
  expect(new Set(requests.map((url) => new URL(url).origin))).toEqual(new Set([service.debug]));
  expect(said).toEqual([]);
});

it('shows rates by rule: hits, near, over and shadow', async () => {
  const service = await startService();
  const { page } = await openPage(browser, `${service.debug}/ui`);
  await page.locator('.domain').waitFor();
  const row = page.locator('.domain .row', { hasText: 'api_key' });
  const seen = { hits: 0, near: 0, over: 0, shadow: 0 };
  // Each figure is shown for one second only.
  await hit(service, 'example', { api_key: 'team' }, 1_500);
  await eventually(
    async () => {
      for (const kind of ['hits', 'near', 'over', 'shadow'] as const) {
        const text = (await row.locator(`.figure.${kind} b`).textContent()) ?? '';
        seen[kind] = Math.max(seen[kind], Number(text.replace(',', '')));
      }
      expect(Object.values(seen).every((figure) => figure > 0)).toBe(true);
    },
    { withinMs: 2_500, everyMs: 50 },
  );
  expect(seen.over / seen.hits).toBeCloseTo(500 / 1_500, 1);
  expect(seen.shadow).toBe(seen.over);
});

it.each(['light', 'dark'] as const)(
  'fits 360 pixels without scrolling sideways, and is legible in %s',
  async (colorScheme) => {
    const { folder, env, longest } = await temporaryRules();
    const service = await startService({ env });
    const viewport = { width: 360, height: 740 };
    const { page, said } = await openPage(browser, `${service.debug}/ui`, {
      viewport,
      colorScheme,
    });
    await page.locator('.domain').waitFor();
    await hit(service, 'narrow', { [longest]: longest }, 7);
    await page.locator('#hot li', { hasText: longest }).waitFor();
    const width = await page.evaluate('document.scrollingElement.scrollWidth');
    expect(width).toBe(360);
    expect(await page.evaluate(LEAST_CONTRAST)).toBeGreaterThanOrEqual(4.5);
    expect(said).toEqual([]);
    await rm(folder, { recursive: true });
  },
);

it('shows texts of callers as texts', async () => {
  const service = await startService();
  const { page, said } = await openPage(browser, `${service.debug}/ui`);
  await page.locator('.domain').waitFor();
  const text = '<img src=x onerror=console.log(1)>"\'&amp;';
  await hit(service, 'example', { api_key: text });
  await page.locator('#hot li', { hasText: text }).waitFor();
  expect(await page.locator('#hot img').count()).toBe(0);
  expect(said).toEqual([]);
});

it('says what to do where no rules are, and shows them once they are loaded', async () => {
  const { folder, env, write } = await temporaryRules([]);
  const service = await startService({ env });
  const { page } = await openPage(browser, `${service.debug}/ui`);
  await page.locator('#domains .empty', { hasText: 'put a YAML file' }).waitFor();
  await write();
  await page.locator('.domain h3', { hasText: 'narrow' }).waitFor();
  await writeFile(join(folder, 'config', 'more.yaml'), 'domain: later\ndescriptors: []\n');
  await page.locator('.domain', { hasText: 'No limits here' }).waitFor();
  await rm(folder, { recursive: true });
});

it('filters rules, keeping what they stand below', async () => {
  const service = await startService();
  const { page } = await openPage(browser, `${service.debug}/ui`);
  await page.getByLabel('Show rules that contain').fill('login');
  const shown = page.locator('.domain li[data-text]:visible > .row .key');
  await eventually(async () => {
    expect(await shown.allTextContents()).toEqual(['remote_address any', 'path=/login']);
  });
});

it('says when the connection is lost, and comes back with the service', async () => {
  const service = await startService();
  const { page } = await openPage(browser, `${service.debug}/ui`);
  await page.locator('#status', { hasText: 'serving' }).waitFor();
  await service.stop();
  await page.locator('#status', { hasText: 'no connection, trying again' }).waitFor();
  const { port } = new URL(service.debug);
  await startService({ env: { DEBUG_PORT: port } });
  await page.locator('#status', { hasText: 'serving' }).waitFor({ timeout: 15_000 });
});

/** The least contrast of a text that is shown with what is behind it, as WCAG counts it. */
const LEAST_CONTRAST = `(() => {
  const parse = (text) => text.match(/[\\d.]+/g).map(Number);
  const luminance = (rgb) => {
    const [r, g, b] = rgb.map((one) => {
      const c = one / 255;
      return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (node) => {
    for (let at = node; at !== null; at = at.parentElement) {
      const [r, g, b, a = 1] = parse(getComputedStyle(at).backgroundColor);
      if (a === 1) return [r, g, b];
    }
    return [255, 255, 255];
  };
  let least = Infinity;
  for (const node of document.querySelectorAll('body *')) {
    const own = [...node.childNodes].some((one) => one.nodeType === 3 && one.data.trim() !== '');
    if (!own || !node.checkVisibility() || ['SCRIPT', 'STYLE', 'NOSCRIPT'].includes(node.nodeName)) continue;
    const pair = [parse(getComputedStyle(node).color).slice(0, 3), behind(node)].map(luminance);
    least = Math.min(least, (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05));
  }
  return least;
})()`;
