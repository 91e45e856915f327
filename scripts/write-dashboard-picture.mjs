// Writes docs/dashboard.png: the built service with the rules of examples/, some traffic, and Chromium.
// npm run build && node scripts/write-dashboard-picture.mjs [folder for all looks [seconds]]
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client, credentials } from '@grpc/grpc-js';
import { chromium } from 'playwright-core';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const [given, seconds = '75'] = process.argv.slice(2);
const folder = given ?? join(ROOT, 'docs');
const { loadProtos, RATE_LIMIT_PROTO } = createRequire(import.meta.url)(
  '../dist/src/platform/proto/proto-files.js',
);
const LOOKS = [
  { name: 'dashboard.png', width: 1240, height: 1010, colorScheme: 'light' },
  { name: 'dashboard-dark.png', width: 1240, height: 1010, colorScheme: 'dark' },
  { name: 'dashboard-narrow.png', width: 360, height: 1500, colorScheme: 'light' },
];
const SHOTS = given === undefined ? LOOKS.slice(0, 1) : LOOKS;

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return String(port);
}

/** A day in the life of a web site: many readers, a few who are in a hurry, one who attacks. */
function nextDescriptors(random) {
  const reader = Math.floor(40 * random() ** 2.2);
  const address = ['remote_address', random() < 0.03 ? '192.0.2.66' : `203.0.113.${reader + 10}`];
  const kind = random();
  if (kind < 0.46) return [[['path', `/static/${Math.floor(random() * 90)}.css`]]];
  if (kind < 0.78) return [[address]];
  if (kind < 0.84) return [[address], [address, ['path', '/login']]];
  if (kind < 0.985)
    return [[['api_key', `team-${'abcde'[Math.floor(5 * random() ** 2)]}`]], [address]];
  return [[['try', 'client']]];
}

const [http, grpc, debug] = [await freePort(), await freePort(), await freePort()];
const service = spawn(process.execPath, ['dist/src/bin/ratelimit.js'], {
  cwd: ROOT,
  stdio: ['ignore', 'ignore', 'inherit'],
  env: {
    PATH: process.env.PATH,
    RUNTIME_ROOT: 'examples',
    HOST: '127.0.0.1',
    GRPC_HOST: '127.0.0.1',
    DEBUG_HOST: '127.0.0.1',
    PORT: http,
    GRPC_PORT: grpc,
    DEBUG_PORT: debug,
    DISABLE_STATS: 'true',
  },
});
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox'],
});
const client = new Client(`127.0.0.1:${grpc}`, credentials.createInsecure());
try {
  const method = loadProtos([RATE_LIMIT_PROTO])['envoy.service.ratelimit.v3.RateLimitService']
    .ShouldRateLimit;
  const ask = (descriptors) =>
    new Promise((resolve) => {
      const entries = descriptors.map((one) => ({
        entries: one.map(([key, value]) => ({ key, value })),
      }));
      const request = { domain: 'example', descriptors: entries };
      const { path, requestSerialize, responseDeserialize } = method;
      client.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, resolve);
    });
  await new Promise((resolve) => client.waitForReady(Date.now() + 10_000, resolve));
  const pages = await Promise.all(
    SHOTS.map(async ({ width, height, colorScheme }) => {
      const page = await browser.newPage({ viewport: { width, height }, colorScheme });
      await page.goto(`http://127.0.0.1:${debug}/ui`);
      return page;
    }),
  );
  const until = Date.now() + Number(seconds) * 1_000;
  while (Date.now() < until) {
    const wave = 6 + 5 * Math.sin(Date.now() / 6_000) + 5 * Math.random();
    for (let i = 0; i < wave; i++) void ask(nextDescriptors(Math.random));
    await delay(20);
  }
  for (const [i, page] of pages.entries())
    await page.screenshot({ path: join(folder, SHOTS[i].name), fullPage: i === 2 });
} finally {
  await browser.close();
  client.close();
  service.kill();
}
