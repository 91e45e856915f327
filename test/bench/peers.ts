import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { loadavg, release, cpus } from 'node:os';
import { join } from 'node:path';
import { startRedisServer, type RedisServer } from '../support/edge/redis-server';
import { startStatsdUdp } from '../support/statsd-server';
import { cpuMicros, residentMegabytes } from './cpu';
import { runGenerator, type Shape } from './e2e-load';
import {
  DEFAULT_VARIANT,
  moveToLoadCore,
  redisSettings,
  startMeasuredService,
  statsdSettings,
  type MeasuredService,
  type Variant,
} from './e2e-service';
import type { GeneratorReport } from './generator';
import { median } from './measure';

/** What operators run today: its newest version by the Go module proxy, which the table names. */
const REFERENCE = 'github.com/envoyproxy/ratelimit/src/service_cmd@latest';
const PROGRAMS = join(process.cwd(), '.cache/peers');

const ROUNDS = Number(process.env['ROUNDS'] ?? 3);
const KEYS = 10_000;

/** One load: calls as fast as answers come, or so many a second. */
interface Load {
  readonly name: string;
  readonly shape: Shape;
  readonly perSecond: number;
  readonly requests: number;
}

const crowded = (connections: number, inFlight: number): Load => ({
  name: `${String(connections)}×${String(inFlight)}`,
  shape: { connections, inFlight },
  ...{ perSecond: 0, requests: 40_000 },
});
const PACED_SECONDS = 4;
const paced = (perSecond: number): Load => ({
  name: `${perSecond.toLocaleString('en')} a second`,
  shape: { connections: 10, inFlight: 0 },
  ...{ perSecond, requests: perSecond * PACED_SECONDS },
});
const LOADS = [
  ...[crowded(1, 100), crowded(10, 10), crowded(10, 100), crowded(100, 1)],
  ...[paced(1_000), paced(5_000)],
];

/** Callers of one counter, at once, until five times its limit were asked for. */
const RUSH = { connections: 20, inFlight: 10 };
const RUSH_LIMIT = 2_000;
/** By the key of the rule. */
const ALGORITHMS = { fixed: 'fixed_window', gcra: 'gcra', sliding: 'sliding_window' } as const;
type Algorithm = keyof typeof ALGORITHMS;

/** A service to compare. */
interface Peer {
  readonly name: string;
  readonly variant: Variant;
  /** The keys of ALGORITHMS that it counts by. */
  readonly algorithms: readonly Algorithm[];
}

/** What one load has cost one peer, round by round. */
interface Run {
  readonly micros: number;
  readonly redisMicros: number;
  readonly report: GeneratorReport;
}

interface Measured {
  readonly peer: Peer;
  readonly service: MeasuredService;
  readonly idleMegabytes: number;
  /** By the name of the load. */
  readonly runs: Map<string, Run[]>;
  /** Admitted requests as a share of the limit. */
  readonly admitted: Map<Algorithm, number>;
}

/**
 * Prints one Markdown table: what a decision costs the reference and this build, by turns, on the same cores, with the same load and
 * one Redis, all of whose counters are compared with the calls. REFERENCE takes a binary in place of the newest version, LIMITADOR one of
 * Limitador, which joins then.
 */
async function main(): Promise<void> {
  const [redis, statsd] = await Promise.all([startRedisServer(), startStatsdUdp()]);
  const all: Measured[] = [];
  try {
    const peers = [reference(), limitador(redis.port), ours()].filter((peer) => peer !== undefined);
    moveToLoadCore(redis.pid);
    moveToLoadCore(process.pid);
    const load = loadavg()[0] ?? NaN;
    for (const peer of peers) all.push(await start(peer, redis, statsd.port));
    for (let round = 0; round < ROUNDS; round += 1) await playRound(all, redis, round);
    for (const one of all) await rush(one, redis);
    console.log(await table(all, redis, load));
  } finally {
    for (const { service } of all) await service.stop();
    await statsd.stop();
    await redis.stop();
  }
}

function ours(): Peer {
  const [major = ''] = /^v\d+/.exec(process.version) ?? [];
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  return {
    name: `Weir ${version} (node ${major})`,
    variant: {
      ...DEFAULT_VARIANT,
      moreLimits: Object.fromEntries(
        Object.entries(ALGORITHMS).map(([key, algorithm]) => [
          key,
          `${rushLimit}, algorithm: ${algorithm}`,
        ]),
      ),
    },
    algorithms: Object.keys(ALGORITHMS) as Algorithm[],
  };
}

const rushLimit = `unit: year, requests_per_unit: ${String(RUSH_LIMIT)}`;

/** Undefined, with a line that says so: Go is missing. */
function reference(): Peer | undefined {
  const binary = process.env['REFERENCE'] ?? buildReference();
  if (binary === undefined) return undefined;
  return {
    name: `envoyproxy/ratelimit ${goVersionOf(binary)}`,
    variant: {
      dist: '',
      program: () => ({ command: [binary] }),
      settings: {
        RUNTIME_SUBDIRECTORY: '.',
        RUNTIME_WATCH_ROOT: 'false',
        REDIS_SOCKET_TYPE: 'tcp',
      },
      moreLimits: { fixed: rushLimit },
    },
    algorithms: ['fixed'],
  };
}

function goVersionOf(binary: string): string {
  try {
    const text = execFileSync('go', ['version', '-m', binary], { encoding: 'utf8' });
    const [, version = 'of unknown version'] = /\n\tmod\t\S+\t(\S+)/.exec(text) ?? [];
    return version.replace(/^v0\.0\.0-/, '');
  } catch {
    return 'of unknown version';
  }
}

function buildReference(): string | undefined {
  const binary = join(PROGRAMS, 'service_cmd');
  if (existsSync(binary)) return binary;
  note('building the reference with Go, a minute or two the first time …');
  mkdirSync(PROGRAMS, { recursive: true });
  try {
    const env = { ...process.env, GOBIN: PROGRAMS };
    execFileSync('go', ['install', REFERENCE], { env, stdio: ['ignore', 'ignore', 'inherit'] });
    return binary;
  } catch (error) {
    note(`the reference is left out: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}

/** Undefined, with a line that says so: there is no binary. It is counted exactly: each decision asks Redis. */
function limitador(redisPort: number): Peer | undefined {
  const binary = process.env['LIMITADOR'];
  if (binary === undefined) {
    note('Limitador is left out: LIMITADOR names its binary, made by cargo build --release');
    return undefined;
  }
  const version = execFileSync(binary, ['--version'], { encoding: 'utf8' });
  const [, name = 'Limitador'] = /^(.*?) \(([0-9a-f]{7})?/.exec(version) ?? [];
  return {
    name,
    variant: {
      dist: '',
      program: ({ folder, httpPort, port }) => {
        const file = join(folder, 'limits.yaml');
        const daily = limitOf('user', 4_000_000_000, 86_400);
        writeFileSync(file, `${daily}${limitOf('fixed', RUSH_LIMIT, 31_536_000)}`);
        const ports = ['-b', '127.0.0.1', '-p', String(port)];
        const http = ['-B', '127.0.0.1', '-P', String(httpPort)];
        const redis = ['redis', `redis://127.0.0.1:${String(redisPort)}`];
        return { command: [binary, ...ports, ...http, file, ...redis], healthPath: '/status' };
      },
      settings: {},
    },
    algorithms: ['fixed'],
  };
}

/** A limit of Limitador on every value of a key. */
function limitOf(key: string, most: number, seconds: number): string {
  return `- { namespace: edge, max_value: ${String(most)}, seconds: ${String(seconds)}, conditions: [], variables: ["descriptors[0].${key}"] }\n`;
}

async function start(peer: Peer, redis: RedisServer, statsdPort: number): Promise<Measured> {
  const env = {
    ...redisSettings(redis.port),
    ...statsdSettings(statsdPort),
    ...{ LOG_LEVEL: 'error', EXPIRATION_JITTER_MAX_SECONDS: '0' },
  };
  const service = await startMeasuredService(env, peer.variant);
  const idleMegabytes = residentMegabytes(service.pid);
  const one = { peer, service, idleMegabytes, runs: new Map(), admitted: new Map() };
  // Compilers and connections are not what a load is asked for.
  for (const load of LOADS.slice(0, 4)) await generate(one, load, 'user', load.requests / 2);
  return one;
}

/** Each load on each peer, the peers in turn first. */
async function playRound(all: readonly Measured[], redis: RedisServer, round: number) {
  for (const load of LOADS) {
    note(`round ${String(round + 1)} of ${String(ROUNDS)}, ${load.name}`);
    for (const one of round % 2 === 0 ? all : all.toReversed()) {
      const runs = one.runs.get(load.name) ?? [];
      one.runs.set(load.name, [...runs, await play(one, load, redis)]);
    }
  }
}

/** One load, after which the counters have to hold each call once. */
async function play(one: Measured, load: Load, redis: RedisServer): Promise<Run> {
  await redis.client.flushall();
  const { pid } = one.service;
  const before = [cpuMicros(pid), cpuMicros(redis.pid)] as const;
  const report = await generate(one, load, 'user', load.requests);
  const micros = (cpuMicros(pid) - before[0]) / load.requests;
  const redisMicros = (cpuMicros(redis.pid) - before[1]) / load.requests;
  const counted = await sumOfCounters(redis);
  if (report.ok !== load.requests || counted !== load.requests)
    throw new Error(
      `${one.peer.name}, ${load.name}: of ${String(load.requests)} calls ${String(report.ok)} were answered, ${String(counted)} counted`,
    );
  return { micros, redisMicros, report };
}

function generate(
  { service }: Measured,
  { shape, perSecond }: Pick<Load, 'shape' | 'perSecond'>,
  key: string,
  requests: number,
): Promise<GeneratorReport> {
  const keys = key === 'user' ? KEYS : 1;
  return runGenerator({
    ...{ port: service.port, ...shape, requests, perSecond },
    ...{ key, keys, varied: true },
  });
}

async function sumOfCounters({ client }: RedisServer): Promise<number> {
  const keys = await client.keys('*');
  const counts = keys.length === 0 ? [] : await client.mget(keys);
  return counts.reduce((sum, count) => sum + Number(count), 0);
}

/** 200 callers at once ask one counter for five times its limit. */
async function rush(one: Measured, redis: RedisServer): Promise<void> {
  await redis.client.flushall();
  for (const key of one.peer.algorithms) {
    const { ok } = await generate(one, { shape: RUSH, perSecond: 0 }, key, 5 * RUSH_LIMIT);
    one.admitted.set(key, ok / RUSH_LIMIT);
  }
}

/** The peers as columns, and the last as a share of the first. */
async function table(all: readonly Measured[], redis: RedisServer, load: number): Promise<string> {
  const rows: (readonly string[])[] = [];
  const row = (name: string, of: (one: Measured) => number | undefined, digits: number) => {
    const figures = all.map(of);
    const [first, last] = [figures[0], figures.at(-1)];
    const isCompared = all.length > 1 && first !== undefined && last !== undefined;
    const text = (figure: number | undefined) => figure?.toFixed(digits) ?? '';
    rows.push([name, ...figures.map(text), isCompared ? (last / first).toFixed(2) : '']);
  };
  for (const { name } of LOADS) {
    const ofRuns = (read: (run: Run) => number) => (one: Measured) =>
      median((one.runs.get(name) ?? []).map(read));
    row(
      `${name}: CPU of the service, µs a decision`,
      ofRuns(({ micros }) => micros),
      1,
    );
    row(
      `${name}: CPU of Redis, µs a decision`,
      ofRuns(({ redisMicros }) => redisMicros),
      1,
    );
    for (const [at, share] of ['p50', 'p99', 'p99.9'].entries())
      row(
        `${name}: ${share}, ms`,
        ofRuns(({ report }) => report.latencyMs[at] ?? NaN),
        2,
      );
  }
  for (const [key, algorithm] of Object.entries(ALGORITHMS))
    row(
      `admitted ÷ limit, ${String(RUSH.connections * RUSH.inFlight)} callers at once, ${algorithm}`,
      ({ admitted }) => admitted.get(key as Algorithm),
      3,
    );
  row('start, ms', ({ service }) => service.startMs, 0);
  row('resident before the first call, MB', ({ idleMegabytes }) => idleMegabytes, 0);
  row('resident after the last, MB', ({ service }) => residentMegabytes(service.pid), 0);
  const heads = ['', ...all.map(({ peer }) => peer.name), all.length > 1 ? 'last ÷ first' : ''];
  const lines = [heads, heads.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  return `${lines.join('\n')}\n\n${await machine(redis, load)}`;
}

async function machine({ client }: RedisServer, load: number): Promise<string> {
  const [, version = ''] = /redis_version:(\S+)/.exec(await client.info('server')) ?? [];
  const cores = cpus();
  return [
    `${String(cores.length)} × ${cores[0]?.model ?? 'unknown processor'}`,
    `Linux ${release()}`,
    `Redis ${version}`,
    `node ${process.version}`,
    new Date().toISOString().slice(0, 10),
    `load ${load.toFixed(1)} before the first call`,
    `${String(ROUNDS)} rounds, medians; service on one core, Redis and the callers on another`,
  ].join(', ');
}

function note(line: string): void {
  process.stderr.write(`${line}\n`);
}

void main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
});
