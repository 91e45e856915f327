import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';

/** A page of Debian's Chromium, in its build without a desktop, and what it asked for and said. */
export interface WatchedPage {
  readonly page: Page;
  /** Every address that was asked for. */
  readonly requests: readonly string[];
  /** Every line on the console, every error that nobody caught. */
  readonly said: readonly string[];
}

export function launchChromium(): Promise<Browser> {
  // The sandbox needs another user than root, which the tests of an image run as.
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  return chromium.launch({ executablePath: '/usr/bin/chromium-headless-shell', args });
}

export async function openPage(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<WatchedPage> {
  const page = await browser.newPage(options);
  page.setDefaultTimeout(20_000);
  const requests: string[] = [];
  const said: string[] = [];
  page.on('request', (request) => requests.push(request.url()));
  page.on('console', (message) => said.push(message.text()));
  page.on('pageerror', (error) => said.push(error.message));
  await page.goto(url);
  return { page, requests, said };
}
