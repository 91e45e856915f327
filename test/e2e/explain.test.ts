import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createTemporaryDirectory, type TemporaryDirectory } from '../support/rule-directory';
import { startService, stopServices } from '../support/edge/service';

const run = promisify(execFile);
const BIN = join(__dirname, '../../dist/src/bin');

const RULES = `domain: shop
descriptors:
  - key: user
    rate_limit: { unit: day, requests_per_unit: 2 }
  - key: plan
    value: free
    descriptors:
      - key: path
        rate_limit: { unit: hour, requests_per_unit: 5 }
`;

let directory: TemporaryDirectory;
const files: string[] = [];
beforeAll(() => {
  directory = createTemporaryDirectory();
  directory.write('config/shop.yaml', RULES);
});
afterEach(stopServices);
afterAll(() => {
  directory.remove();
  for (const file of files) rmSync(file, { recursive: true });
});

const start = (env: Readonly<Record<string, string>> = {}) =>
  startService({ env: { BACKEND_TYPE: 'memory', RUNTIME_ROOT: directory.path, ...env } });

function tokenFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'weir-token-'));
  files.push(folder);
  writeFileSync(join(folder, 'token'), 's3cret\n');
  return join(folder, 'token');
}

it('explains on the command line, with a service and without', async () => {
  const file = tokenFile();
  const service = await start({ ADMIN_TOKEN_FILE: file });
  const debug = service.debug.replace('http://', '');
  const pending = ['-explain', '-domain', 'shop', '-descriptors', 'plan=free'];
  const client = [join(BIN, 'ratelimit-client.js'), '-debug', debug, ...pending];
  const { stdout } = await run(process.execPath, [...client, '-token_file', file]);
  expect(stdout).toContain('plan=free: the rule plan=free (value, shop.yaml:5:5)');
  expect(stdout).toContain('no limit: too_shallow');
  const byUrl = ['-debug', `${service.debug}/`, '-token_file', file, '-json'];
  const json = await run(process.execPath, [...client, ...byUrl]);
  expect(JSON.parse(json.stdout)).toMatchObject({ overallCode: 'OK' });
  await expect(run(process.execPath, client)).rejects.toThrow(/-token_file/);
  const check = [join(BIN, 'ratelimit-config-check.js'), '-config_dir', directory.path];
  const offline = await run(process.execPath, [...check, ...pending]);
  expect(offline.stdout).toContain('no limit: too_shallow');
  const limited = ['-explain', '-domain', 'shop', '-descriptors', 'user=ann'];
  expect((await run(process.execPath, [...check, ...limited])).stdout).toContain(
    'limit 2 per day (fixed_window, config/shop.yaml:4:17)',
  );
  await expect(run(process.execPath, [...check, '-explain'])).rejects.toThrow(/needs -domain/);
});
