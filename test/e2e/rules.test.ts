import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../support/eventually';
import { ask, startService, stopServices } from '../support/service';

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
