import { execFile } from 'node:child_process';
import { mkdtempSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ask, startService, stopServices } from '../support/service';

const SIMULATE = join(__dirname, '../../dist/src/bin/ratelimit-simulate.js');
const RULES = `domain: shop
descriptors:
  - key: user
    rate_limit: { unit: minute, requests_per_unit: 3, name: users }
  - key: trial
    shadow_mode: true
    rate_limit: { unit: minute, requests_per_unit: 1 }
`;

const run = promisify(execFile);
let root = '';
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'weir-simulate-'));
  mkdirSync(join(root, 'config'));
  writeFileSync(join(root, 'config', 'shop.yaml'), RULES);
});
afterEach(async () => {
  await stopServices();
  rmSync(root, { recursive: true });
});

async function record(env: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const file = join(root, 'decisions.jsonl');
  const service = await startService({
    env: {
      RUNTIME_ROOT: root,
      BACKEND_TYPE: 'memory',
      DECISION_LOG: 'all',
      DECISION_LOG_SAMPLE: '1',
      DECISION_LOG_FILE: file,
      DECISION_LOG_MAX_PER_SECOND: '1000',
      ...env,
    },
  });
  for (let round = 0; round < 6; round++) {
    await Promise.all(
      ['user=ann', 'user=bob', 'trial=x', 'nobody=x'].map((entry) => ask(service, 'shop', entry)),
    );
  }
  await service.stop();
  return readFileSync(file, 'utf8').trimEnd().split('\n');
}

it('decides a recorded run as it was decided', async () => {
  const lines = await record({});
  expect(lines).toHaveLength(24);
  const config = join(root, 'config');
  const again = join(root, 'again.jsonl');
  const input = join(root, 'decisions.jsonl');
  const { stdout } = await run(process.execPath, [
    SIMULATE,
    ...['-config_dir', config, '-input', input, '-decisions', again],
  ]);
  expect(stdout).toContain('24 requests, ');
  expect(readFileSync(again, 'utf8').trimEnd().split('\n')).toEqual(lines);
});

it('writes of DECISION_LOG=over what passed a limit alone, shadow mode included', async () => {
  const lines = await record({ DECISION_LOG: 'over', RESPONSE_DYNAMIC_METADATA: 'true' });
  const records = lines.map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
  expect(records.length).toBeGreaterThan(0);
  for (const { code, shadow, rules } of records) {
    if (code === 'OK') expect([shadow, rules]).toEqual([true, ['shop.trial']]);
    else expect([shadow, rules]).toEqual([undefined, ['shop.user']]);
  }
});
