import type { RedisServer } from '../support/edge/redis-server';
import { cpuMicros } from './cpu';
import { runGenerator, type Shape } from './e2e-load';
import {
  redisSettings,
  startMeasuredService,
  statsdSettings,
  type MeasuredService,
} from './e2e-service';
import { median } from './measure';

const SHAPE: Shape = { connections: 10, inFlight: 100 };
const KEYS = 10_000;
const REQUESTS = 300_000;
/** Nearly nothing drains while the bench runs. */
const YEAR = 'unit: year, requests_per_unit:';

interface Rival {
  readonly name: string;
  readonly rateLimit: string;
  /** Hits that the counters hold after so many requests. */
  readonly counted: number;
}

const LOADS = [
  ['admitted', 'redis', 1_000_000, REQUESTS],
  ['denied', 'redis', 1, KEYS],
  ['admitted', 'memory', 1_000_000, 0],
] as const;

const rivals = (limit: number, counted: number): readonly Rival[] => [
  { name: 'fixed window', rateLimit: `${YEAR} ${String(limit)}`, counted: REQUESTS },
  ...['gcra', 'sliding_window'].map((algorithm) => {
    const rateLimit = `${YEAR} ${String(limit)}, algorithm: ${algorithm}`;
    return { name: algorithm, rateLimit, counted };
  }),
];

/** CPU per decision by algorithm, by turns, with keys and headers that differ: admitted, and nearly all denied. */
export async function benchAlgorithms(
  redis: RedisServer,
  statsdPort: number,
  rounds: number,
): Promise<void> {
  for (const [name, backend, limit, counted] of LOADS) {
    console.log(`\n10×100 varied, by algorithm, counters in ${backend}, ${name}`);
    await benchRivals(rivals(limit, counted), { redis, backend, statsdPort, rounds });
  }
}

interface Order {
  readonly backend: 'redis' | 'memory';
  readonly redis: RedisServer;
  readonly statsdPort: number;
  readonly rounds: number;
}

interface Running extends Rival {
  readonly service: MeasuredService;
  /** CPU µs per decision, round by round. */
  readonly ours: number[];
  readonly theirs: number[];
}

async function benchRivals(all: readonly Rival[], order: Order): Promise<void> {
  const { redis, backend, statsdPort, rounds } = order;
  const store = backend === 'redis' ? redisSettings(redis.port) : { BACKEND_TYPE: backend };
  const env = { ...store, ...statsdSettings(statsdPort) };
  const start = async (rival: Rival): Promise<Running> => {
    const settings = { LOG_LEVEL: 'error' };
    const variant = { dist: 'dist', settings, rateLimit: rival.rateLimit };
    const service = await startMeasuredService(env, variant);
    return { ...rival, service, ours: [], theirs: [] };
  };
  const running = await Promise.all(all.map(start));
  try {
    // The first round warms up.
    for (let round = 0; round <= rounds; round += 1)
      for (const one of running) await playRound(one, order, round > 0);
    for (const one of running) console.log(toText(one, running[0] as Running, backend));
  } finally {
    for (const { service } of running) await service.stop();
  }
}

async function playRound(
  { service, counted, ours, theirs }: Running,
  { redis, backend }: Order,
  isKept: boolean,
): Promise<void> {
  await redis.client.flushall();
  const [our, their] = [cpuMicros(service.pid), cpuMicros(redis.pid)];
  await load(service.port);
  const costs = [cpuMicros(service.pid) - our, cpuMicros(redis.pid) - their] as const;
  if (backend === 'redis') await expectCounted(redis, counted);
  if (!isKept) return;
  ours.push(costs[0] / REQUESTS);
  theirs.push(costs[1] / REQUESTS);
}

function toText(one: Running, base: Running, backend: Order['backend']): string {
  const figure = (of: 'ours' | 'theirs') => {
    const ratios = one[of].map((cost, round) => cost / (base[of][round] ?? NaN));
    return `${median(one[of]).toFixed(2)} µs (${median(ratios).toFixed(2)} times)`;
  };
  const theirs = backend === 'redis' ? `, Redis ${figure('theirs')}` : '';
  return `${one.name.padEnd(16)} ours ${figure('ours')}${theirs}`;
}

async function load(port: number): Promise<void> {
  const order = { port, ...SHAPE, requests: REQUESTS, perSecond: 0, keys: KEYS, varied: true };
  const { ok, overLimit } = await runGenerator(order);
  if (ok + overLimit !== REQUESTS) throw new Error(`${String(ok + overLimit)} were answered`);
}

/** Sums up all counters: a count, `units tick` of gcra (a year is 31,536,000 ticks), or `window previous used`. */
async function expectCounted({ client }: RedisServer, counted: number): Promise<void> {
  const values = await client.mget(await client.keys('*'));
  const sum = values.reduce((all, value) => {
    const numbers = (value ?? '').split(' ').map(Number);
    const [first = NaN, , third] = numbers;
    const hits = numbers.length === 2 ? Math.ceil(first / 31_536_000) : (third ?? first);
    return all + hits;
  }, 0);
  if (sum !== counted) throw new Error(`${String(counted)} hits left ${String(sum)} in Redis`);
}
