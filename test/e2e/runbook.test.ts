import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../support/free-port';
import { startRedisServer } from '../support/redis-server';
import { ask, startService, stopServices } from '../support/service';

const ROOT = join(__dirname, '../..');
const PAGE = join(ROOT, 'docs/runbook.md');
const text = readFileSync(PAGE, 'utf8');

const blocks = [...text.matchAll(/^```\n(.*?)^```/gms)].flatMap(([, lines = '']) =>
  lines.trim().split('\n'),
);
const inTables = [...text.matchAll(/`(curl [^`]+)`/g)].map(([, line = '']) =>
  line.replaceAll('\\|', '|'),
);
const commands = [...new Set([...blocks, ...inTables])];
/** What counts only with TLS on the gRPC port, or with memcached; test/e2e/tls.test.ts and grafana.test.ts read those statistics. */
const NEEDS_MORE = /grep (?:certificate|memcache)$/;
const OURS = /^(?:curl|npx ratelimit-)/;

const folder = mkdtempSync(join(tmpdir(), 'weir-runbook-'));
const ends: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  await stopServices();
  for (const end of ends) await end();
  await rm(folder, { recursive: true });
});

it('names only commands that work on an instance', async () => {
  const scrapes = await freePort();
  const redis = await startRedisServer();
  ends.push(() => redis.stop());
  const service = await startService({
    waitUntilUp: 'connected',
    env: {
      ADMIN_API: 'write',
      KVSTORE_URL: `127.0.0.1:${String(redis.port)}`,
      DISABLE_STATS: 'false',
      USE_PULLMETRICS: 'true',
      PULLMETRICS_ADDR: `127.0.0.1:${String(scrapes)}`,
    },
  });
  // What the searches look for is there: hits, hits over the limit, a domain without rules.
  for (const [domain, entry] of [
    ['example', 'try=a'],
    ['example', 'try=a'],
    ['example', 'api_key=a'],
    ['elsewhere', 'a=b'],
  ] as const)
    await ask(service, domain, entry);
  const here = (command: string) =>
    command
      .replace('localhost:8080', service.http)
      .replace('localhost:6070', service.debug)
      .replace('localhost:9090', `127.0.0.1:${String(scrapes)}`)
      .replace('localhost:8081', service.grpc)
      .replace('curl -s ', 'curl -sf ')
      .replace(/seconds=\d+/, 'seconds=1')
      .replace('-domain example -descriptors try=curl', '-domain example -descriptors api_key=b')
      .replace(/^npx (ratelimit-[\w-]+)/, `${process.execPath} ${ROOT}/dist/src/bin/$1.js`)
      .replace('-config_dir DIR', `-config_dir ${ROOT}/examples/config`);
  const tried = commands.filter((command) => OURS.test(command) && !NEEDS_MORE.test(command));
  expect(tried.length).toBeGreaterThan(15);
  for (const command of tried) {
    // A search that finds nothing, or an address that answers 404, ends with an error.
    const line = `set -o pipefail; ${here(command)}`;
    await promisify(execFile)('bash', ['-c', line], { cwd: folder });
  }
});

it('has other commands only of tools that an operator has', () => {
  const others = commands.filter((command) => !OURS.test(command));
  for (const command of others) expect(command).toMatch(/^(?:kubectl|redis-cli|openssl|go tool) /);
});

it('links only to pages and headings that exist', () => {
  const anchorsOf = (page: string) =>
    [...page.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
      title
        .toLowerCase()
        .replaceAll(/[^\w -]/g, '')
        .replaceAll(' ', '-'),
    );
  const broken = [...text.matchAll(/\]\(([^)#:]*)(?:#([^)]+))?\)/g)].filter(
    ([, path = '', anchor]) => {
      const file = path === '' ? PAGE : join(dirname(PAGE), path);
      if (!existsSync(file)) return true;
      return anchor !== undefined && !anchorsOf(readFileSync(file, 'utf8')).includes(anchor);
    },
  );
  expect(broken.map(([link]) => link)).toEqual([]);
});
