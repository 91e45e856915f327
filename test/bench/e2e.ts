import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { startRedisServer, type RedisServer } from '../support/edge/redis-server';
import { startStatsdUdp } from '../support/statsd-server';
import { benchAlgorithms } from './e2e-algorithms';
import { benchCheck } from './e2e-check';
import { benchLeases } from './e2e-leases';
import { cpuMicros, residentMegabytes } from './cpu';
import { runGenerator, runH2load, type Shape } from './e2e-load';
import {
  moveToLoadCore,
  redisSettings,
  startMeasuredService,
  statsdSettings,
  type MeasuredService,
} from './e2e-service';
import { median } from './measure';
import { rateLimitMessage } from './request';

const ENGINES = ['wire', 'grpc-js'] as const;
type Engine = (typeof ENGINES)[number];

const SHAPES: readonly Shape[] = [
  { connections: 1, inFlight: 100 },
  { connections: 10, inFlight: 10 },
  { connections: 10, inFlight: 100 },
  { connections: 100, inFlight: 1 },
];
const RATES = [1_000, 5_000, 20_000];
const PACED_SECONDS = 6;
const PACED_CONNECTIONS = 10;
/** Calls per round: enough for some seconds of CPU, of which the kernel counts hundredths. */
const REQUESTS = { wire: 400_000, 'grpc-js': 40_000 } as const;
/** With one call per connection all are slower. */
const FEWER_REQUESTS = { wire: 120_000, 'grpc-js': 30_000 } as const;
const ROUNDS = Number(process.env['ROUNDS'] ?? 3);
const WARM_UP = 30_000;

interface Bench {
  readonly service: MeasuredService;
  readonly redis: RedisServer;
  readonly engine: Engine;
  readonly body: string;
}

/** What one run of a load cost. */
interface Cost {
  readonly micros: number;
  readonly redisMicros: number;
  readonly perSecond: number;
}

/** Runs `load`, and checks that each of its requests was counted once. */
async function measureCost(
  { service, redis }: Bench,
  requests: number,
  load: () => Promise<number>,
): Promise<Cost> {
  await redis.client.flushall();
  const before = [cpuMicros(service.pid), cpuMicros(redis.pid), performance.now()] as const;
  const good = await load();
  const micros = (cpuMicros(service.pid) - before[0]) / requests;
  const redisMicros = (cpuMicros(redis.pid) - before[1]) / requests;
  const perSecond = requests / ((performance.now() - before[2]) / 1_000);
  const counted = await sumOfCounters(redis);
  if (good !== requests || counted !== requests) {
    const texts = [requests, good, counted].map(String);
    throw new Error(`of ${texts.join(' requests, were answered / counted: ')}`);
  }
  return { micros, redisMicros, perSecond };
}

async function sumOfCounters({ client }: RedisServer): Promise<number> {
  const keys = await client.keys('*');
  const counts = keys.length === 0 ? [] : await client.mget(keys);
  return counts.reduce((sum, count) => sum + Number(count), 0);
}

interface Figures {
  readonly costs: readonly Cost[];
}

function micros({ costs }: Figures): number {
  return median(costs.map((cost) => cost.micros));
}

function toText(name: string, { costs }: Figures): string {
  const of = (value: (cost: Cost) => number) => median(costs.map(value));
  const least = Math.min(...costs.map((cost) => cost.micros));
  const figures = [
    `${of((cost) => cost.micros)
      .toFixed(2)
      .padStart(7)} µs`,
    `(least ${least.toFixed(2)})`.padEnd(15),
    `redis ${of((cost) => cost.redisMicros)
      .toFixed(2)
      .padStart(5)} µs`,
    `${Math.round(of((cost) => cost.perSecond))
      .toLocaleString('en')
      .padStart(8)} /s`,
  ];
  return `${name.padEnd(36)} ${figures.join('  ')}`;
}

/** All in turn, round after round: what disturbs one disturbs all. */
async function repeat(runs: readonly (() => Promise<Cost>)[]): Promise<readonly Figures[]> {
  const figures = runs.map(() => ({ costs: [] as Cost[] }));
  for (let round = 0; round < ROUNDS; round++) {
    for (const [i, run] of runs.entries()) figures[i]?.costs.push(await run());
  }
  return figures;
}

/** How much more `other` costs, round by round. */
function difference(figures: Figures, other: Figures): string {
  const costs = other.costs.map((cost, i) => cost.micros - (figures.costs[i]?.micros ?? NaN));
  return `${median(costs).toFixed(2).padStart(7)} µs`;
}

function requestsOf({ engine }: Bench, { connections, inFlight }: Shape): number {
  const isSlow = connections * inFlight <= 100 && inFlight < 100;
  return (isSlow ? FEWER_REQUESTS : REQUESTS)[engine];
}

function nameOf({ connections, inFlight }: Shape): string {
  return `${String(connections)}×${String(inFlight)}`;
}

function h2load(bench: Bench, shape: Shape): Promise<Cost> {
  const { service, body } = bench;
  const requests = requestsOf(bench, shape);
  return measureCost(bench, requests, () => runH2load(service.port, shape, requests, body));
}

function generator(bench: Bench, shape: Shape, varied: boolean): Promise<Cost> {
  const requests = requestsOf(bench, shape);
  const order = {
    ...{ port: bench.service.port, ...shape, requests, perSecond: 0 },
    ...{ keys: varied ? 10_000 : 1, varied },
  };
  return measureCost(bench, requests, async () => (await runGenerator(order)).ok);
}

/** h2load, and our generator with all calls alike and varied. */
const LOADS = ['h2load', 'alike', 'varied'] as const;
type Load = (typeof LOADS)[number];

function play(bench: Bench, shape: Shape, load: Load): Promise<Cost> {
  return load === 'h2load' ? h2load(bench, shape) : generator(bench, shape, load === 'varied');
}

async function paced(bench: Bench, perSecond: number): Promise<string> {
  const requests = perSecond * PACED_SECONDS;
  const order = {
    ...{ port: bench.service.port, connections: PACED_CONNECTIONS, inFlight: 0, requests },
    ...{ perSecond, keys: 10_000, varied: true },
  };
  let latency = '';
  const cost = await measureCost(bench, requests, async () => {
    const { ok, latencyMs, sinceDueMs } = await runGenerator(order);
    const text = (times: readonly number[]) => times.map((ms) => ms.toFixed(2)).join(' / ');
    latency = `${text(latencyMs)} ms from sending, ${text(sinceDueMs)} ms since due`;
    return ok;
  });
  return `${`paced ${String(perSecond)}/s`.padEnd(36)} ${cost.micros.toFixed(2).padStart(7)} µs  p50/p99/p999 ${latency}`;
}

/** Loads that are no calls of one engine. */
const OTHERS = ['algorithms', 'check', 'leases'];
/** LOADS names those to run, `paced` and OTHERS among them; SHAPE the one of SHAPES. */
const WANTED = (process.env['LOADS'] ?? [...LOADS, 'paced', ...OTHERS].join()).split(',');
const ONLY_SHAPE = process.env['SHAPE'];

/** All loads by turns. */
async function benchShape(bench: Bench, shape: Shape): Promise<ReadonlyMap<Load, Figures>> {
  const loads = LOADS.filter((load) => WANTED.includes(load));
  const all = await repeat(loads.map((load) => () => play(bench, shape, load)));
  const found = new Map(all.map((figures, i) => [loads[i] as Load, figures]));
  const name = nameOf(shape);
  for (const [load, figures] of found) console.log(toText(`${name} ${load}`, figures));
  const varied = found.get('varied');
  for (const other of ['h2load', 'alike'] as const) {
    const figures = found.get(other);
    if (varied === undefined || figures === undefined) continue;
    console.log(`${`${name} varied less ${other}`.padEnd(36)} ${difference(figures, varied)}`);
  }
  return found;
}

/** What h2load costs, by shape. */
async function benchEngine(engine: Engine, bench: Bench): Promise<Map<string, number>> {
  const costs = new Map<string, number>();
  console.log(`\nGRPC_TRANSPORT=${engine}`);
  await runH2load(bench.service.port, { connections: 10, inFlight: 10 }, WARM_UP, bench.body);
  const shapes = SHAPES.filter((shape) => [undefined, nameOf(shape)].includes(ONLY_SHAPE));
  for (const shape of shapes) {
    const figures = (await benchShape(bench, shape)).get('h2load');
    if (figures !== undefined) costs.set(nameOf(shape), micros(figures));
  }
  console.log(`${residentMegabytes(bench.service.pid).toFixed(0)} MB resident`);
  for (const rate of WANTED.includes('paced') ? RATES : []) console.log(await paced(bench, rate));
  return costs;
}

function printRatios(all: ReadonlyMap<Engine, ReadonlyMap<string, number>>): void {
  for (const shape of SHAPES) {
    const [ours, theirs] = ENGINES.map((engine) => all.get(engine)?.get(nameOf(shape)));
    if (ours === undefined || theirs === undefined) continue;
    console.log(`${nameOf(shape)}: grpc-js costs ${(theirs / ours).toFixed(1)} times as much`);
  }
}

async function benchAll(redis: RedisServer, body: string, statsdPort: number): Promise<void> {
  const only = process.env['ONLY'];
  const all = new Map<Engine, Map<string, number>>();
  for (const engine of ENGINES.filter((each) => only === undefined || only === each)) {
    const service = await startMeasuredService({
      GRPC_TRANSPORT: engine,
      ...redisSettings(redis.port),
      ...statsdSettings(statsdPort),
    });
    try {
      all.set(engine, await benchEngine(engine, { service, redis, engine, body }));
    } finally {
      await service.stop();
    }
  }
  printRatios(all);
}

async function main(): Promise<void> {
  const machine = `${cpus()[0]?.model ?? 'unknown CPU'}, node ${process.version}`;
  console.log(`${machine}; CPU per decision, median of ${String(ROUNDS)}; StatsD over UDP`);
  const folder = await mkdtemp(join(tmpdir(), 'weir-bench-'));
  const body = join(folder, 'request');
  await writeFile(body, rateLimitMessage('user', 'user-1'));
  const redis = await startRedisServer();
  moveToLoadCore(redis.pid);
  moveToLoadCore(process.pid);
  const statsd = await startStatsdUdp();
  try {
    if (WANTED.some((load) => !OTHERS.includes(load))) await benchAll(redis, body, statsd.port);
    if (WANTED.includes('algorithms')) await benchAlgorithms(redis, statsd.port, ROUNDS);
    if (WANTED.includes('check')) await benchCheck(redis, statsd.port, ROUNDS);
    if (WANTED.includes('leases')) await benchLeases(redis, statsd.port, ROUNDS);
  } finally {
    await statsd.stop();
    await redis.stop();
    await rm(folder, { recursive: true });
  }
}

void main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
