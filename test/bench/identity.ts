import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import autocannon from 'autocannon';
import { cpuMicros } from './cpu';
import { moveToLoadCore } from './e2e-service';
import { issueToken, startMeasuredIdentity } from './identity-service';
import { median } from './measure';

const CONNECTIONS = 50;
const SECONDS = Number(process.env['SECONDS_EACH'] ?? 5);
const ROUNDS = Number(process.env['ROUNDS'] ?? 3);
const GOAL_PER_SECOND = 8_000;
const GOAL_SHARE = 0.15;

/** Limits that are asked for and never reached. */
const RULES = `domain: identity
descriptors:
  - key: remote_address
    rate_limit: { unit: day, requests_per_unit: 4000000000 }
  - key: authenticated
    value: 'true'
    descriptors:
      - key: user_id
        rate_limit: { unit: day, requests_per_unit: 4000000000 }
`;

const LIMITERS = ['off', 'process'] as const;
type Limiter = (typeof LIMITERS)[number];

interface Cost {
  readonly perSecond: number;
  /** CPU of the service for one request: what one core can do does not depend on who else uses it. */
  readonly micros: number;
  readonly p99Ms: number;
}

async function load(url: string, token: string, seconds: number): Promise<autocannon.Result> {
  const headers = { Authorization: `Bearer ${token}` };
  const result = await autocannon({ url, headers, connections: CONNECTIONS, duration: seconds });
  const bad = result.non2xx + result.errors;
  if (bad > 0) throw new Error(`${String(bad)} of ${String(result.requests.total)} were not 200`);
  return result;
}

async function measure(root: string, file: string, limiter: Limiter): Promise<Cost> {
  const env = { RUNTIME_ROOT: root, IDENTITY_STORE_FILE: file, IDENTITY_RATELIMIT: limiter };
  const service = await startMeasuredIdentity(env);
  try {
    const token = issueToken(env);
    const url = `${service.url}/v1/userinfo`;
    // The running service looks at its file four times a second.
    await service.untilKnown(token);
    await load(url, token, 2);
    const before = cpuMicros(service.pid);
    const { requests, latency } = await load(url, token, SECONDS);
    const micros = (cpuMicros(service.pid) - before) / requests.total;
    return { perSecond: requests.average, micros, p99Ms: latency.p99 };
  } finally {
    await service.stop();
  }
}

function toText(name: string, costs: readonly Cost[]): string {
  const of = (value: (cost: Cost) => number) => median(costs.map(value));
  const micros = of((cost) => cost.micros);
  const figures = [
    `${of((cost) => cost.perSecond).toFixed(0)} requests/s seen`,
    `${micros.toFixed(1)} µs CPU`,
    `${(1e6 / micros).toFixed(0)} requests/s for a whole core`,
    `p99 ${of((cost) => cost.p99Ms).toFixed(0)} ms`,
  ];
  return `limits ${name.padEnd(8)} ${figures.join(' · ')}`;
}

async function main(): Promise<void> {
  moveToLoadCore(process.pid);
  console.log(
    `${cpus()[0]?.model ?? ''}, node ${process.version}, ${String(CONNECTIONS)} connections`,
  );
  const root = await mkdtemp(join(tmpdir(), 'weir-bench-'));
  await mkdir(join(root, 'config'));
  await writeFile(join(root, 'config', 'identity.yaml'), RULES);
  const costs: Record<Limiter, Cost[]> = { off: [], process: [] };
  for (let round = 0; round < ROUNDS; round++) {
    for (const limiter of LIMITERS)
      costs[limiter].push(await measure(root, join(root, 'store.json'), limiter));
  }
  await rm(root, { recursive: true, force: true });
  for (const limiter of LIMITERS) console.log(toText(limiter, costs[limiter]));
  const micros = (limiter: Limiter) => median(costs[limiter].map((cost) => cost.micros));
  const share = micros('process') / micros('off') - 1;
  const perSecond = 1e6 / micros('process');
  console.log(
    `the limiter costs ${(share * 100).toFixed(1)} % (goal: below ${String(GOAL_SHARE * 100)})`,
  );
  console.log(`goal: ${String(GOAL_PER_SECOND)} requests/s on a core`);
  if (share > GOAL_SHARE || perSecond < GOAL_PER_SECOND) process.exitCode = 1;
}

void main();
