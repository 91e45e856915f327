// Writes docs/dashboard/*.png: the built service on a Redis, traffic over gRPC, and Chromium. All is well; Redis is
// stopped and a rule file is broken; both are back; a descriptor is explained; the service itself is stopped.
// npm run build && node scripts/write-dashboard-picture.mjs [folder for all looks [seconds]]
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client, credentials } from '@grpc/grpc-js';
import { chromium } from 'playwright-core';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const [given, seconds = '60'] = process.argv.slice(2);
const folder = given ?? join(ROOT, 'docs/dashboard');
const { loadProtos, RATE_LIMIT_PROTO } = createRequire(import.meta.url)(
  '../dist/src/platform/proto-files.js',
);
const LOOKS = [1400, 700, 390].flatMap((width) =>
  ['light', 'dark'].map((colorScheme) => ({ width, colorScheme })),
);
/** Those that docs/dashboard/README.md shows, by state, width and colors. */
const IN_DOCS = new Map([
  ['well-1400-light', 'dashboard.png'],
  ['why-390-light', 'dashboard-why.png'],
  ['wrong-1400-light', 'dashboard-wrong.png'],
  ['wrong-700-dark', 'dashboard-wrong-dark.png'],
  ['wrong-390-light', 'dashboard-wrong-narrow.png'],
  ['gone-700-light', 'dashboard-stale.png'],
]);
const HEIGHTS = { 1400: 1000, 700: 1000, 390: 1100 };

/** Names as Envoy Gateway makes them: the same text as key and as value. */
const ROUTE = 'httproute/default/checkout-payments-and-orders/rule/0/match/0/shop_example_com';
const GATEWAY = `domain: gateway/default/public-traffic/http-80
descriptors:
  - key: ${ROUTE}
    value: ${ROUTE}
    descriptors:
      - key: rule-0-match-0
        rate_limit: { unit: minute, requests_per_unit: 300 }
      - key: rule-1-match-0
        value: rule-1-match-0
        rate_limit: { unit: day, requests_per_unit: 0 }
`;
const BROKEN =
  'domain: broken\ndescriptors:\n  - key: path\n    rate_limit: { unit: fortnight, requests_per_unit: 5 }\n';

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return String(port);
}

/** A day in the life of a web site: many readers, a few who are in a hurry, one who attacks. */
function nextRequest(random) {
  const reader = Math.floor(40 * random() ** 2.2);
  const address = ['remote_address', random() < 0.03 ? '192.0.2.66' : `203.0.113.${reader + 10}`];
  const kind = random();
  if (kind < 0.4) return ['example', [[['path', `/static/${Math.floor(random() * 90)}.css`]]]];
  if (kind < 0.7) return ['example', [[address]]];
  if (kind < 0.76) return ['example', [[address], [address, ['path', '/login']]]];
  if (kind < 0.9)
    return [
      'example',
      [[['api_key', `team-${'abcde'[Math.floor(5 * random() ** 2)]}`]], [address]],
    ];
  if (kind < 0.96) {
    const route = [ROUTE, ROUTE];
    const client = `10.244.${Math.floor(9 * random() ** 3)}.17-checkout-frontend-7f9c6d5b8-x2x9q`;
    return [
      'gateway/default/public-traffic/http-80',
      [
        random() < 0.2
          ? [route, ['rule-1-match-0', 'rule-1-match-0']]
          : [route, ['rule-0-match-0', client]],
      ],
    ];
  }
  if (kind < 0.975)
    return [
      'example',
      [
        [
          ['user_id', `u-${reader}`],
          ['plan', 'free'],
        ],
      ],
    ];
  if (kind < 0.985) return ['staging', [[['path', '/']]]];
  return ['example', [[['try', 'client']]]];
}

/** The box alone: what stands above it changes its height while the picture is taken. */
async function shootWhy(page, path) {
  await page.evaluate(
    "for (const one of document.querySelectorAll('.tiles, #rules, .aside > :not(#why)')) one.hidden = true",
  );
  await page.locator('#why').screenshot({ path });
}

const rules = await mkdtemp(join(tmpdir(), 'weir-pictures-'));
await cp(join(ROOT, 'examples/config'), join(rules, 'config'), { recursive: true });
/** Puts a rule file in place at once, as the watcher wants it. */
async function writeRules(name, text) {
  await writeFile(join(rules, `${name}.draft`), text);
  await rename(join(rules, `${name}.draft`), join(rules, 'config', `${name}.yaml`));
}
await writeRules('gateway', GATEWAY);

const [http, grpc, debug, redisPort] = [
  await freePort(),
  await freePort(),
  await freePort(),
  await freePort(),
];
const REDIS_SERVER = process.env.WEIR_REDIS_SERVER ?? 'redis-server';
const redis = spawn(REDIS_SERVER, ['--port', redisPort, '--bind', '127.0.0.1', '--save', ''], {
  stdio: 'ignore',
});
const service = spawn(process.execPath, ['dist/src/bin/ratelimit.js'], {
  cwd: ROOT,
  stdio: ['ignore', 'ignore', 'ignore'],
  env: {
    PATH: process.env.PATH,
    RUNTIME_ROOT: rules,
    RUNTIME_WATCH_ROOT: 'false',
    BACKEND_TYPE: 'redis',
    REDIS_URL: `127.0.0.1:${redisPort}`,
    HOST: '127.0.0.1',
    GRPC_HOST: '127.0.0.1',
    DEBUG_HOST: '127.0.0.1',
    PORT: http,
    GRPC_PORT: grpc,
    DEBUG_PORT: debug,
    DISABLE_STATS: 'true',
    ADMIN_API: 'write',
  },
});
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium-headless-shell',
  args: ['--no-sandbox'],
});
const client = new Client(`127.0.0.1:${grpc}`, credentials.createInsecure());
try {
  const method = loadProtos([RATE_LIMIT_PROTO])['envoy.service.ratelimit.v3.RateLimitService']
    .ShouldRateLimit;
  const ask = ([domain, descriptors]) =>
    new Promise((resolve) => {
      const entries = descriptors.map((one) => ({
        entries: one.map(([key, value]) => ({ key, value })),
      }));
      const { path, requestSerialize, responseDeserialize } = method;
      const request = { domain, descriptors: entries };
      client.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, resolve);
    });
  await new Promise((resolve) => client.waitForReady(Date.now() + 10_000, resolve));
  const pages = await Promise.all(
    LOOKS.map(async ({ width, colorScheme }) => {
      const viewport = { width, height: HEIGHTS[width] };
      const page = await browser.newPage({ viewport, colorScheme });
      await page.goto(`http://127.0.0.1:${debug}/ui`);
      return page;
    }),
  );
  const drive = async (forSeconds) => {
    const until = Date.now() + forSeconds * 1_000;
    while (Date.now() < until) {
      const wave = 6 + 5 * Math.sin(Date.now() / 6_000) + 5 * Math.random();
      for (let i = 0; i < wave; i++) void ask(nextRequest(Math.random));
      await delay(20);
    }
  };
  const shoot = async (state, isDriven = true) => {
    // Traffic goes on while the pictures are taken.
    let isShooting = isDriven;
    const driven = (async () => {
      while (isShooting) await drive(0.1);
    })();
    for (const [i, { width, colorScheme }] of LOOKS.entries()) {
      const look = `${state}-${width}-${colorScheme}`;
      const name = given === undefined ? IN_DOCS.get(look) : `${look}.png`;
      if (name === undefined) continue;
      const path = join(folder, name);
      if (given === undefined && state === 'why') await shootWhy(pages[i], path);
      else await pages[i].screenshot({ path, fullPage: given !== undefined });
    }
    isShooting = false;
    await driven;
  };
  await drive(Number(seconds));
  await shoot('well');
  redis.kill('SIGSTOP');
  await writeRules('broken', BROKEN);
  await drive(12);
  await shoot('wrong');
  redis.kill('SIGCONT');
  await rm(join(rules, 'config', 'broken.yaml'));
  await drive(14);
  if (given !== undefined) await shoot('back');
  for (const page of pages) {
    await page.getByLabel('Domain', { exact: true }).fill('example');
    await page
      .getByLabel('Descriptor', { exact: true })
      .fill('remote_address=203.0.113.10, path=/login');
    await page.getByRole('button', { name: 'Explain' }).click();
    await page.locator('#why .path').waitFor();
  }
  await shoot('why');
  for (const page of pages) await page.evaluate('scrollTo(0, 0)');
  service.kill('SIGSTOP');
  await delay(6_000);
  await shoot('gone', false);
} finally {
  await browser.close();
  client.close();
  service.kill('SIGKILL');
  redis.kill('SIGKILL');
  await rm(rules, { recursive: true });
}
