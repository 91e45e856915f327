import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../support/edge/eventually';
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
