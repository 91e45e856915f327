import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../support/edge/eventually';
import { freePort } from '../support/free-port';
import type { RedisServer } from '../support/edge/redis-server';
import { cpuMicros } from './cpu';
import { runH1load } from './e2e-load';
import {
  DEFAULT_VARIANT,
  redisSettings,
  SERVICE_CORE,
  startMeasuredService,
  statsdSettings,
} from './e2e-service';
import { median } from './measure';

const CONNECTIONS = 100;
const REQUESTS = Number(process.env['REQUESTS'] ?? 100_000);
const WARM_UP = Math.min(REQUESTS, 30_000);

/** Two counters a call, with all that a map usually asks for. */
const CHECK = `domain: edge
proxy: nginx
trusted_proxies: [127.0.0.1]
descriptors:
  - when: { field: method, equals: GET }
    entries:
      - { key: user, field: remote_address }
  - entries:
      - { key: user, field: path, match: '^(/[^/]*)' }
`;

/** As nginx sends them. */
const HEADERS = [
  'X-Original-URI: /orders/4711?page=2',
  'X-Original-Method: GET',
  'X-Real-IP: 203.0.113.7',
  'Accept: */*',
  'Cookie: session=0123456789abcdef',
];

interface Measured {
  readonly name: string;
  readonly pid: number;
  readonly url: string;
  readonly status: '2xx' | '4xx';
  readonly costs: number[];
  stop(): Promise<unknown>;
}

/** What a call of `/check` costs beside an empty handler of node:http and nginx' own limit, allowed and refused, in turns. */
export async function benchCheck(
  redis: RedisServer,
  statsdPort: number,
  rounds: number,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-bench-check-'));
  const file = join(folder, 'check.yaml');
  await writeFile(file, CHECK);
  const start = (name: string, rateLimit: string | undefined, store: object) =>
    startCheck(name, rateLimit, { CHECK_CONFIG: file, ...store, ...statsdSettings(statsdPort) });
  const inMemory = { BACKEND_TYPE: 'memory' };
  const inRedis = redisSettings(redis.port);
  const over = 'unit: day, requests_per_unit: 1';
  const measured = [
    await startEmpty(),
    await startLimitReq(folder),
    await start('allowed, Redis', undefined, inRedis),
    await start('refused, Redis', over, inRedis),
    await start('allowed, memory', undefined, inMemory),
    await start('refused, memory', over, inMemory),
  ];
  try {
    for (const one of measured) await load(one, WARM_UP);
    for (let round = 0; round < rounds; round += 1)
      for (const one of measured) one.costs.push(await load(one, REQUESTS));
    print(measured);
  } finally {
    await Promise.all(measured.map((one) => one.stop()));
    await rm(folder, { recursive: true });
  }
}

/** CPU µs for a call. */
async function load({ pid, url, status }: Measured, requests: number): Promise<number> {
  const before = cpuMicros(pid);
  const answered = await runH1load(url, { connections: CONNECTIONS, requests, headers: HEADERS });
  const micros = (cpuMicros(pid) - before) / requests;
  const least = status === '2xx' ? requests : requests - 2;
  if ((answered[status] ?? 0) < least)
    throw new Error(`${url}: of ${String(requests)} calls ${JSON.stringify(answered)}`);
  return micros;
}

function print([empty, ...others]: readonly Measured[]): void {
  const base = median(empty?.costs ?? []);
  console.log(`\n/check, ${String(CONNECTIONS)} keep-alive connections, one call at a time`);
  console.log(`${'an empty handler of node:http'.padEnd(36)} ${base.toFixed(2).padStart(7)} µs`);
  for (const { name, costs } of others) {
    const micros = median(costs);
    const times = `${(micros / base).toFixed(2)} times that`;
    console.log(`${name.padEnd(36)} ${micros.toFixed(2).padStart(7)} µs  ${times}`);
  }
}

/** What nginx counts for itself: one zone of shared memory, no rules, no store. */
const LIMIT_REQ = (
  port: number,
) => `daemon off; master_process off; pid nginx.pid; error_log stderr crit;
events { worker_connections 1024; }
http {
  access_log off;
  keepalive_requests 100000000;
  limit_req_zone $binary_remote_addr zone=clients:1m rate=1000000r/s;
  server {
    listen 127.0.0.1:${String(port)};
    location / { limit_req zone=clients burst=1000000 nodelay; empty_gif; }
  }
}`;

async function startLimitReq(folder: string): Promise<Measured> {
  const port = await freePort();
  const file = join(folder, 'nginx.conf');
  await writeFile(file, LIMIT_REQ(port));
  const words = ['nginx', '-p', folder, '-e', 'stderr', '-c', file];
  const child = spawn('taskset', ['-c', String(SERVICE_CORE), ...words], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await eventually(async () => {
    await (await fetch(`http://127.0.0.1:${String(port)}/`)).arrayBuffer();
  });
  return toMeasured("nginx' own limit_req", child, port);
}

const EMPTY = `require('node:http')
  .createServer((request, response) => response.end())
  .listen({ host: '127.0.0.1', port: Number(process.argv[1]) }, () => console.log('up'));`;

async function startEmpty(): Promise<Measured> {
  const port = await freePort();
  const child = spawn(
    'taskset',
    ['-c', String(SERVICE_CORE), process.execPath, '-e', EMPTY, String(port)],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  await once(child.stdout, 'data');
  return toMeasured('empty', child, port);
}

function toMeasured(name: string, child: ChildProcess, port: number): Measured {
  return {
    name,
    pid: child.pid as number,
    url: `http://127.0.0.1:${String(port)}/check`,
    status: '2xx',
    costs: [],
    async stop() {
      child.kill();
      await once(child, 'exit');
    },
  };
}

async function startCheck(
  name: string,
  rateLimit: string | undefined,
  env: Readonly<Record<string, string>>,
): Promise<Measured> {
  const { pid, httpPort, stop } = await startMeasuredService(env, {
    ...DEFAULT_VARIANT,
    rateLimit,
  });
  const status = rateLimit === undefined ? '2xx' : '4xx';
  return { name, pid, url: `http://127.0.0.1:${String(httpPort)}/check`, status, costs: [], stop };
}
