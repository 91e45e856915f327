import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createAuthority } from '../support/certificates';
import { freePort } from '../support/free-port';
import { startMemcachedServer } from '../support/edge/memcached-server';
import { startRedisServer } from '../support/edge/redis-server';
import { ask, startService, stopServices } from '../support/edge/service';

const ROOT = join(__dirname, '../..');
const text = readFileSync(join(ROOT, 'docs/runbook.md'), 'utf8');

const blocks = [...text.matchAll(/^```\n(.*?)^```/gms)].flatMap(([, lines = '']) =>
  lines.trim().split('\n'),
);
const inTables = [...text.matchAll(/`((?:curl|redis-cli|npx ratelimit-[\w-]+) [^`]+)`/g)].map(
  ([, line = '']) => line.replaceAll('\\|', '|'),
);
const commands = [...new Set([...blocks, ...inTables])];
/** What counts only with memcached. */
const OF_MEMCACHED = 'grep memcache';
const NEEDS_TLS = /^openssl |grep certificate$/;
const OF_CALENDARS = 'grep time_zone_data';
/** Of Envoy, with which `envoy-example.test.ts` tries it. */
const OF_ENVOY = 'localhost:9901';
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
      .replace('-debug localhost:6070', `-debug ${new URL(service.debug).host}`)
      .replace('localhost:6070', service.debug)
      .replace('localhost:9090', `127.0.0.1:${String(scrapes)}`)
      .replace('localhost:8081', service.grpc)
      .replace('curl -s ', 'curl -sf ')
      .replace(/seconds=\d+/, 'seconds=1')
      .replace('-domain example -descriptors try=curl', '-domain example -descriptors api_key=b')
      .replace(/^npx (ratelimit-[\w-]+)/, `${process.execPath} ${ROOT}/dist/src/bin/$1.js`)
      .replace('-config_dir DIR', `-config_dir ${ROOT}/examples/config`);
  const tried = commands.filter(
    (command) =>
      OURS.test(command) &&
      !command.endsWith(OF_MEMCACHED) &&
      !NEEDS_TLS.test(command) &&
      !command.endsWith(OF_CALENDARS) &&
      !command.includes(OF_ENVOY),
  );
  expect(tried.length).toBeGreaterThan(15);
  for (const command of tried) {
    // A search that finds nothing, or an address that answers 404, ends with an error.
    const line = `set -o pipefail; ${here(command)}`;
    await promisify(execFile)('bash', ['-c', line], { cwd: folder });
  }
});

/** What a sound Redis answers. The times of --latency-history are: least, most and mean in ms, and how many. */
const ANSWERS: readonly (readonly [RegExp, RegExp])[] = [
  [/ --latency-history$/, /^\d+ \d+ [\d.]+ \d+$/m],
  [/ slowlog get 10$/, /^\d+\n\d+\n\d+\n/],
  [/ ping$/, /^PONG$/m],
  [/ info memory$/, /^used_memory:\d+/m],
  [/ info replication$/, /^role:master/m],
  [/ eval 'return 1' 0$/, /^1$/m],
  [/ time$/, /^\d{10,}\n\d+$/m],
  [/ client list$/, /^id=\d+ addr=/m],
  // No instance has a rule of a calendar.
  [/ get weir:time_zones$/, /^\s*$/],
];

it('names only commands that work on an instance with memcached', async () => {
  const memcached = await startMemcachedServer();
  ends.push(() => memcached.stop());
  const service = await startService({
    waitUntilUp: 'connected',
    env: { BACKEND_TYPE: 'memcache', MEMCACHE_HOST_PORT: `127.0.0.1:${String(memcached.port)}` },
  });
  await ask(service, 'example', 'try=a');
  const [command = '', ...others] = commands.filter((each) => each.endsWith(OF_MEMCACHED));
  expect(others).toEqual([]);
  const line = `set -o pipefail; ${command.replace('localhost:6070', service.debug)}`;
  const { stdout } = await promisify(execFile)('bash', ['-c', line], { cwd: folder });
  expect(stdout).toMatch(/^ratelimit\.memcache\.keys_requested: 1$/m);
});

it('names only commands of redis-cli that a Redis answers', async () => {
  const redis = await startRedisServer({ settings: [['slowlog-log-slower-than', '0']] });
  ends.push(() => redis.stop());
  const tried = commands.filter((command) => command.startsWith('redis-cli '));
  expect(tried.length).toBeGreaterThan(6);
  for (const command of tried) {
    const [, answer] = ANSWERS.find(([ending]) => ending.test(command)) ?? [];
    expect([command, answer]).toEqual([command, expect.any(RegExp)]);
    // An answer that is an error is one of the command (-e); a history is written until it is interrupted.
    const line = command
      .replace(/^redis-cli /, 'redis-cli -e ')
      .replace('redis://HOST:6379', `redis://127.0.0.1:${String(redis.port)}`)
      .replace(/^(redis-cli -e) (?!-u )/, `$1 -p ${String(redis.port)} `)
      .replace(/(.* --latency-history)$/, 'stdbuf -oL timeout 0.5 $1 || [ $? -eq 124 ]');
    const { stdout } = await promisify(execFile)('bash', ['-c', line], { cwd: folder });
    expect([command, stdout]).toEqual([command, expect.stringMatching(answer ?? /^$/)]);
  }
});

it('shows the certificate of the gRPC port by the commands for it', async () => {
  const authority = createAuthority();
  ends.push(() => rm(authority.directory, { recursive: true }));
  const { certFile, keyFile } = authority.issue('weir.test', ['localhost']);
  const service = await startService({
    env: {
      GRPC_SERVER_USE_TLS: 'true',
      GRPC_SERVER_TLS_CERT: certFile,
      GRPC_SERVER_TLS_KEY: keyFile,
    },
  });
  const said = [];
  for (const command of commands.filter((each) => NEEDS_TLS.test(each))) {
    const line = command
      .replace('localhost:8081', service.grpc)
      .replace('localhost:6070', service.debug);
    const piped = `set -o pipefail; ${line}`;
    said.push((await promisify(execFile)('bash', ['-c', piped], { cwd: folder })).stdout);
  }
  const ended = '\\w{3} +\\d+ [\\d:]+ \\d{4} GMT';
  expect(said).toEqual([
    expect.stringMatching(new RegExp(`^notAfter=${ended}\nsubject=CN ?= ?weir.test\n$`)),
    expect.stringMatching(/^ratelimit\.service\.certificate_end_seconds: \d{10}$/m),
  ]);
});

it('has other commands only of kubectl (test/unit/docs/runbook-kubectl.test.ts) and of Go', () => {
  const others = commands.filter((command) => !OURS.test(command) && !NEEDS_TLS.test(command));
  for (const command of others) expect(command).toMatch(/^(?:kubectl|redis-cli|go tool) /);
});
