import { toAlgorithm, type Algorithm } from '../../src/core/algorithms/algorithm';
import type { Increment } from '../../src/core/ports';
import { SOME_MATCH } from '../support/rules';
import { startRedisServer } from '../support/redis-server';
import { cpuMicros } from './cpu';
import { median } from './measure';
import { openCounters } from './redis';

const PER_BATCH = 100;
const IN_FLIGHT = 10;
const KEYS = 10_000;
const ROUNDS = 7;
const WAVES = 40;

interface Figures {
  readonly ours: number;
  readonly redis: number;
}

interface Shape {
  readonly name: string;
  readonly algorithm: Algorithm | undefined;
  readonly limit: number;
}

function shape(name: string, algorithm: Algorithm['name'], limit: number): Shape {
  const definition = { name: algorithm, limit, burst: undefined, chargeDenied: false };
  return { name, limit, algorithm: toAlgorithm({ ...definition, periodSeconds: 3_600 }) };
}

const SHAPES: readonly Shape[] = [
  { name: 'fixed window', algorithm: undefined, limit: 50_000_000 },
  shape('gcra', 'gcra', 50_000_000),
  shape('sliding window', 'sliding_window', 50_000_000),
  { name: 'fixed window, denied', algorithm: undefined, limit: 1 },
  shape('gcra, denied', 'gcra', 1),
  shape('sliding window, denied', 'sliding_window', 1),
];

function incrementOf({ algorithm, limit }: Shape, keyAt: number): Increment {
  return {
    key: `edge_user_${String(keyAt)}_1795240200${algorithm?.keyEnd ?? ''}`,
    hits: 1,
    limit,
    ttlSeconds: 3_600 + (keyAt % 300),
    windowEndSeconds: Math.ceil(Date.now() / 1_000) + 3_600,
    algorithm,
    ...SOME_MATCH,
  };
}

/** CPU µs per increment: ours, and the server's. */
async function measureShape(given: Shape): Promise<Figures> {
  const server = await startRedisServer();
  const { counters, stop } = await openCounters(server.address);
  const all = Array.from({ length: KEYS }, (_, at) => incrementOf(given, at));
  let at = 0;
  const batch = () => {
    const increments: Increment[] = [];
    for (let i = 0; i < PER_BATCH; i += 1)
      increments.push(all[(at = (at + 7_919) % KEYS)] as Increment);
    return counters.add({ increments, runEnds: undefined, nowSeconds: Date.now() / 1_000 });
  };
  const ours: number[] = [];
  const redis: number[] = [];
  for (let round = 0; round < ROUNDS + 1; round += 1) {
    const [us, them] = [process.cpuUsage(), cpuMicros(server.pid)];
    for (let wave = 0; wave < WAVES; wave += 1)
      await Promise.all(Array.from({ length: IN_FLIGHT }, batch));
    const { user, system } = process.cpuUsage(us);
    const increments = WAVES * IN_FLIGHT * PER_BATCH;
    ours.push((user + system) / increments);
    redis.push((cpuMicros(server.pid) - them) / increments);
  }
  await stop();
  await server.stop();
  return { ours: median(ours.slice(1)), redis: median(redis.slice(1)) };
}

async function main(): Promise<void> {
  console.log('CPU µs per counter, batches of 100 over 10,000 keys, ten in flight\n');
  let base: Figures | undefined;
  for (const each of SHAPES) {
    const figures = await measureShape(each);
    if (each.algorithm === undefined) base = figures;
    const times = (name: keyof Figures) =>
      `${figures[name].toFixed(2)} µs (${(figures[name] / (base ?? figures)[name]).toFixed(2)} times)`;
    console.log(`${each.name.padEnd(26)} ours ${times('ours')}, Redis ${times('redis')}`);
  }
}

void main();
