import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { eventually } from '../support/edge/eventually';
import { manyMistakes } from '../support/many-rules';
import { ask, startService, stopServices } from '../support/edge/service';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'weir-e2e-'));
  await mkdir(join(root, 'config'));
});
afterEach(async () => {
  await stopServices();
  await rm(root, { recursive: true });
});

const limitOf = (requests: number) =>
  `domain: d\ndescriptors:\n  - key: k\n    rate_limit: {unit: hour, requests_per_unit: ${String(requests)}}\n`;

async function write(text: string): Promise<void> {
  await writeFile(join(root, '.rules.yaml.new'), text);
  await rename(join(root, '.rules.yaml.new'), join(root, 'config', 'rules.yaml'));
}

it('takes a new limit while it runs, and keeps the last good rules when a file is broken', async () => {
  await write(limitOf(5));
  const service = await startService({ env: { RUNTIME_ROOT: root } });
  expect((await ask(service, 'd', 'k=v')).body).toMatchObject({
    statuses: [{ currentLimit: { requestsPerUnit: 5 } }],
  });

  await write(limitOf(7));
  await eventually(async () => {
    const { body } = await ask(service, 'd', 'k=w');
    expect(body).toMatchObject({ statuses: [{ currentLimit: { requestsPerUnit: 7 } }] });
  });

  await write('domain: d\ndescriptors:\n  - key: k\n    rate_limt: {}\n  - kee: x\n');
  await eventually(() => {
    expect(service.output()).toMatch(/file=rules\.yaml line=4 column=5 error=.*rate_limt/);
    expect(service.output()).toMatch(/file=rules\.yaml line=5 column=\d+ error=.*kee/);
  });
  const { body } = await ask(service, 'd', 'k=x');
  expect(body).toMatchObject({ statuses: [{ currentLimit: { requestsPerUnit: 7 } }] });
  const stats = await (await fetch(`${service.debug}/stats`)).text();
  expect(stats).toContain('ratelimit.service.config_load_error: 1\n');
  expect(stats).toContain('ratelimit.service.config_load_success: 2\n');
});

it('logs the first hundred of 2,000 mistakes and how many more there are, where the checker lists all', async () => {
  await write(limitOf(5));
  const service = await startService({ env: { RUNTIME_ROOT: root } });
  await write(manyMistakes(2_000));
  await eventually(() => {
    expect(service.output()).toContain('rules not loaded, the last valid ones stay in force');
  });
  const lines = service.output().split('\n');
  const mistakes = lines.filter((line) => line.includes('msg="a mistake in the rules"'));
  expect(mistakes).toHaveLength(100);
  expect(mistakes.at(-1)).toContain('line=302 ');
  expect(lines.filter((line) => line.includes('more problems in the rules'))).toEqual([
    expect.stringMatching(
      /level=error .*ratelimit-config-check lists all" errors=1900 warnings=0$/,
    ),
  ]);
  const version = await fetch(`${service.debug}/api/v1/version`);
  expect(await version.json()).toMatchObject({ lastLoad: { ok: false, errors: 2_000 } });
  const checker = join(__dirname, '../../dist/src/bin/ratelimit-config-check.js');
  const checked = await promisify(execFile)(
    process.execPath,
    [checker, '-config_dir', join(root, 'config')],
    {
      maxBuffer: 64 * 1_024 * 1_024,
    },
  ).catch((error: unknown) => error as { readonly stdout: string });
  expect(checked.stdout.match(/rules\.yaml:\d+:\d+: unit/g)).toHaveLength(2_000);
});

it('starts without rules, says so, and serves as soon as there are some', async () => {
  await write('domain: d\ndescriptors:\n  - key: k\n    rate_limit: {unit: fortnight}\n');
  const service = await startService({
    env: { RUNTIME_ROOT: root, HEALTHY_WITH_AT_LEAST_ONE_CONFIG_LOADED: 'true' },
  });
  expect(await ask(service, 'd', 'k=v')).toMatchObject({ status: 503 });
  expect((await fetch(`${service.http}/healthcheck`)).status).toBe(500);
  await write(limitOf(1));
  await eventually(async () => {
    expect((await ask(service, 'd', 'k=v')).status).toBe(200);
  });
  // Of two workers the one that answers here may take the rules a moment after the one that decided.
  await eventually(async () => {
    expect((await fetch(`${service.http}/healthcheck`)).status).toBe(200);
  });
});

it('says in whole milliseconds how long a load took', async () => {
  await write(limitOf(5));
  const service = await startService({ env: { RUNTIME_ROOT: root, LOG_LEVEL: 'info' } });
  await eventually(() => {
    expect(service.output()).toMatch(/msg="loaded the rules" .*durationMs=\d+$/m);
  });
});

describe('a file beside the directory', () => {
  it('is read with a subdirectory and with `.`, where envoyproxy/ratelimit reads it', async () => {
    await rm(join(root, 'config'), { recursive: true });
    await mkdir(join(root, 'sub'));
    for (const [subdirectory, file] of [
      ['.', 'config.yaml'],
      ['sub', 'sub/config.yaml'],
    ] as const) {
      await writeFile(join(root, file), limitOf(5));
      const env = { RUNTIME_ROOT: root, RUNTIME_SUBDIRECTORY: subdirectory };
      const service = await startService({ env });
      expect((await ask(service, 'd', 'k=v')).body).toMatchObject({
        statuses: [{ currentLimit: { requestsPerUnit: 5 } }],
      });
    }
  });

  it('and a file in place of the directory are read with RUNTIME_WATCH_ROOT=false where it reads them', async () => {
    await rm(join(root, 'config'), { recursive: true });
    await writeFile(join(root, 'config'), limitOf(5));
    const service = await startService({
      env: { RUNTIME_ROOT: root, RUNTIME_WATCH_ROOT: 'false' },
    });
    expect((await ask(service, 'd', 'k=v')).body).toMatchObject({
      statuses: [{ currentLimit: { requestsPerUnit: 5 } }],
    });
  });
});

it('warns where envoyproxy/ratelimit reads no rules, and reads them', async () => {
  await write(limitOf(5));
  const env = { RUNTIME_ROOT: root, BACKEND_TYPE: 'memcache', MEMCACHE_HOST_PORT: '127.0.0.1:1' };
  const service = await startService({ env, waitUntilUp: 'answering' });
  await eventually(async () => {
    expect(service.output()).toContain(
      'level=warning msg="RUNTIME_SUBDIRECTORY is not set, without RUNTIME_WATCH_ROOT=false: envoyproxy/ratelimit reads no rules then',
    );
    expect(await (await fetch(`${service.debug}/rlconfig`)).text()).toContain('d.k: ');
  });
});
