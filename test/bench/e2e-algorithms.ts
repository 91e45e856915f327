import type { RedisServer } from '../support/redis-server';
import { cpuMicros } from './cpu';
import { runGenerator, type Shape } from './e2e-load';
import { redisSettings, startMeasuredService, statsdSettings } from './e2e-service';
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

async function benchRivals(
  all: readonly Rival[],
  { redis, backend, statsdPort, rounds }: Order,
): Promise<void> {
  const store = backend === 'redis' ? redisSettings(redis.port) : { BACKEND_TYPE: backend };
  const env = { ...store, ...statsdSettings(statsdPort) };
  const running = await Promise.all(
    all.map(async (rival) => {
      const settings = { LOG_LEVEL: 'error' };
      const variant = { dist: 'dist', settings, rateLimit: rival.rateLimit };
      const service = await startMeasuredService(env, variant);
      return { ...rival, service, ours: [] as number[], redis: [] as number[] };
    }),
  );
  try {
    for (let round = 0; round <= rounds; round += 1) {
      for (const { service, counted, ours, redis: theirs } of running) {
        await redis.client.flushall();
        const before = [cpuMicros(service.pid), cpuMicros(redis.pid)] as const;
        await load(service.port);
        const costs = [cpuMicros(service.pid) - before[0], cpuMicros(redis.pid) - before[1]];
        if (backend === 'redis') await expectCounted(redis, counted);
        if (round === 0) continue;
        ours.push((costs[0] ?? NaN) / REQUESTS);
        theirs.push((costs[1] ?? NaN) / REQUESTS);
      }
    }
    for (const one of running) {
      const share = (of: 'ours' | 'redis') => {
        const ratios = one[of].map((cost, at) => cost / (running[0]?.[of][at] ?? NaN));
        return `${median(one[of]).toFixed(2)} µs (${median(ratios).toFixed(2)} times)`;
      };
      const theirs = backend === 'redis' ? `, Redis ${share('redis')}` : '';
      console.log(`${one.name.padEnd(16)} ours ${share('ours')}${theirs}`);
    }
  } finally {
    for (const { service } of running) await service.stop();
  }
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
