import { rm } from 'node:fs/promises';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { launchChromium, openPage, type WatchedPage } from '../../support/chromium';
import { temporaryRules } from '../../support/dashboard-rules';
import { startService, stopServices } from '../../support/edge/service';

/** The browser of all tests of the page, and what each of them starts. */

let browser: Browser | undefined;
beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser?.close());

/** What a test has to end behind its services. */
export const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const context of browser?.contexts() ?? []) await context.close();
  await stopServices();
  for (const end of ends.splice(0)) await end();
});

export function openDashboard(url: string, options?: BrowserContextOptions): Promise<WatchedPage> {
  if (browser === undefined) throw new Error('the browser starts before the first test');
  return openPage(browser, url, options);
}

/** A service with rules of its own, which `write` changes. */
export async function startWithRules(
  texts?: readonly string[],
  env: Readonly<Record<string, string>> = {},
) {
  const rules = await temporaryRules(texts);
  ends.push(() => rm(rules.folder, { recursive: true }));
  return { ...rules, service: await startService({ env: { ...rules.env, ...env } }) };
}
