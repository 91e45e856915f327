import { execFile } from 'node:child_process';
import { mkdtempSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startRedisServer } from '../support/edge/redis-server';
import { ask, startService, stopServices, type Service } from '../support/edge/service';

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

/** Asks `/json`. */
async function askFor({ http }: Service, request: object): Promise<void> {
  const response = await fetch(`${http}/json`, { method: 'POST', body: JSON.stringify(request) });
  await response.arrayBuffer();
}

async function startRecording(env: Readonly<Record<string, string>>): Promise<Service> {
  return startService({
    waitUntilUp: 'connected',
    env: {
      RUNTIME_ROOT: root,
      BACKEND_TYPE: 'memory',
      DECISION_LOG: 'all',
      DECISION_LOG_SAMPLE: '1',
      DECISION_LOG_FILE: join(root, 'decisions.jsonl'),
      DECISION_LOG_MAX_PER_SECOND: '100000',
      ...env,
    },
  });
}

async function stopRecording(service: Service): Promise<readonly string[]> {
  await service.stop();
  return readFileSync(join(root, 'decisions.jsonl'), 'utf8').trimEnd().split('\n');
}

async function record(env: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const service = await startRecording(env);
  for (let round = 0; round < 6; round++) {
    await Promise.all(
      ['user=ann', 'user=bob', 'trial=x', 'nobody=x'].map((entry) => ask(service, 'shop', entry)),
    );
  }
  return stopRecording(service);
}

/** Replays what was recorded; answers the report and the decisions. */
async function replay() {
  const [config, again] = [join(root, 'config'), join(root, 'again.jsonl')];
  const input = join(root, 'decisions.jsonl');
  const { stdout } = await run(process.execPath, [
    SIMULATE,
    ...['-config_dir', config, '-input', input, '-decisions', again],
  ]);
  return { report: stdout, lines: readFileSync(again, 'utf8').trimEnd().split('\n') };
}

it('decides a recorded run as it was decided', async () => {
  const lines = await record({});
  expect(lines).toHaveLength(24);
  const again = await replay();
  expect(again.report).toContain('24 requests, ');
  expect(again.lines).toEqual(lines);
});

describe('a recorded run of every kind of limit', () => {
  const KINDS = ['fixed', 'gcra', 'debt', 'sliding', 'guarded', 'quota', 'trial', 'free', 'none'];
  /** Redis paces by its own clock: there, windows of a year end for neither during a test. */
  const rulesIn = (unit: string) => `domain: shop
descriptors:
  - key: fixed
    rate_limit: { unit: second, requests_per_unit: 3 }
  - key: gcra
    rate_limit: { unit: ${unit}, requests_per_unit: 3, algorithm: gcra, burst: 2 }
  - key: debt
    rate_limit: { unit: ${unit}, requests_per_unit: 3, algorithm: gcra, charge_denied: true }
  - key: sliding
    rate_limit: { unit: ${unit}, requests_per_unit: 3, algorithm: sliding_window }
  - key: guarded
    rate_limit: { unit: ${unit}, requests_per_unit: 3, charge_denied: false }
  - key: quota
    quota_mode: true
    rate_limit: { unit: ${unit}, requests_per_unit: 3 }
  - key: trial
    shadow_mode: true
    rate_limit: { unit: second, requests_per_unit: 3 }
  - key: free
    rate_limit: { unlimited: true }
`;

  /** The n-th request of the load: one to three descriptors, hits of 0 to 3, some of them given back. */
  const requestAt = (n: number) => ({
    domain: 'shop',
    descriptors: Array.from({ length: 1 + (n % 3) }, (_, at) => ({
      entries: [{ key: KINDS[(n * 5 + at * 4) % KINDS.length], value: String((n >> 3) % 2) }],
      hitsAddend: (n * 7 + at) % 4,
      isNegativeHits: n % 11 === 0,
    })),
  });

  /** Asks for more than a second and at least 400 times, so many requests at a time. */
  async function load(service: Service, width: number): Promise<number> {
    let asked = 0;
    const endMs = performance.now() + 1_200;
    while (performance.now() < endMs || asked < 400) {
      const requests = Array.from({ length: width }, () => requestAt(asked++));
      await Promise.all(requests.map((request) => askFor(service, request)));
    }
    return asked;
  }

  interface Decided {
    readonly code: string;
    readonly rules: readonly (string | null)[];
    readonly statuses: readonly (readonly [string])[];
  }
  const codesOf = (lines: readonly string[]) =>
    lines.map((line, index) => {
      const { code, statuses } = JSON.parse(line) as Decided;
      return [index, code, ...statuses.map(([each]) => each)];
    });

  function expectRefusals(lines: readonly string[]): void {
    const refusing = new Set<string | null>();
    for (const line of lines) {
      const { rules, statuses } = JSON.parse(line) as Decided;
      statuses.forEach(([code], at) => code === 'OVER_LIMIT' && refusing.add(rules[at] ?? null));
    }
    const limited = ['fixed', 'gcra', 'debt', 'sliding', 'guarded', 'quota'];
    expect([...refusing].sort()).toEqual(limited.map((key) => `shop.${key}`).sort());
  }

  it('counted in memory, many at a time, is decided again line by line', async () => {
    writeFileSync(join(root, 'config', 'shop.yaml'), rulesIn('second'));
    const service = await startRecording({});
    const asked = await load(service, 8);
    const lines = await stopRecording(service);
    expect(lines).toHaveLength(asked);
    expectRefusals(lines);
    expect((await replay()).lines).toEqual(lines);
  });

  it('counted in Redis is decided again with the same codes', async () => {
    const redis = await startRedisServer();
    writeFileSync(join(root, 'config', 'shop.yaml'), rulesIn('year'));
    const REDIS_URL = `127.0.0.1:${String(redis.port)}`;
    const service = await startRecording({ BACKEND_TYPE: 'redis', REDIS_URL });
    const asked = await load(service, 1);
    const lines = await stopRecording(service);
    await redis.stop();
    expect(lines).toHaveLength(asked);
    expectRefusals(lines);
    expect(codesOf((await replay()).lines)).toEqual(codesOf(lines));
  });
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
