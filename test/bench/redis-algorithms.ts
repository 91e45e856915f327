import { toAlgorithm, type Algorithm } from '../../src/core/algorithms/algorithm';
import type { Counters, Increment } from '../../src/core/ports';
import { SOME_MATCH } from '../support/rules';
import { startRedisServer } from '../support/redis-server';
import { cpuMicros } from './cpu';
import { median } from './measure';
import { openCounters } from './redis';

const PER_BATCH = 100;
const IN_FLIGHT = 10;
const KEYS = 10_000;
const ROUNDS = 11;
const WAVES = 20;
const INCREMENTS = WAVES * IN_FLIGHT * PER_BATCH;

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
    key: `edge_user_${String(limit)}_${String(keyAt)}${algorithm?.keyEnd ?? '_1795240200'}`,
    hits: 1,
    limit,
    ttlSeconds: 3_600 + (keyAt % 300),
    windowEndSeconds: Math.ceil(Date.now() / 1_000) + 3_600,
    algorithm,
    ...SOME_MATCH,
  };
}

/** Sends waves of batches; every key is asked again after 10,000 others. */
function createLoad(given: Shape, counters: Pick<Counters, 'add'>) {
  const all = Array.from({ length: KEYS }, (_, at) => incrementOf(given, at));
  let at = 0;
  const batch = () => {
    const increments: Increment[] = [];
    for (let i = 0; i < PER_BATCH; i += 1)
      increments.push(all[(at = (at + 7_919) % KEYS)] as Increment);
    return counters.add({ increments, groupEnds: undefined, nowSeconds: Date.now() / 1_000 });
  };
  return async () => {
    for (let wave = 0; wave < WAVES; wave += 1)
      await Promise.all(Array.from({ length: IN_FLIGHT }, batch));
  };
}

/** CPU µs per increment: ours, and the server's. The shapes take turns, so that a disturbance is shared. */
async function main(): Promise<void> {
  const server = await startRedisServer();
  const { counters, stop } = await openCounters(server.address);
  const loads = SHAPES.map((each) => createLoad(each, counters));
  const ours = SHAPES.map((): number[] => []);
  const redis = SHAPES.map((): number[] => []);
  for (let round = 0; round < ROUNDS + 1; round += 1) {
    for (const [at, load] of loads.entries()) {
      const [us, them] = [process.cpuUsage(), cpuMicros(server.pid)];
      await load();
      const { user, system } = process.cpuUsage(us);
      if (round === 0) continue;
      ours[at]?.push((user + system) / INCREMENTS);
      redis[at]?.push((cpuMicros(server.pid) - them) / INCREMENTS);
    }
  }
  await stop();
  await server.stop();
  console.log('CPU µs per counter, batches of 100 over 10,000 keys, ten in flight\n');
  const text = (all: readonly number[][], at: number): string => {
    const [mine, base] = [at, at - (at % 3)].map((one) => median(all[one] ?? [])) as [
      number,
      number,
    ];
    return `${mine.toFixed(2)} µs (${(mine / base).toFixed(2)} times)`;
  };
  for (const [at, { name }] of SHAPES.entries())
    console.log(`${name.padEnd(26)} ours ${text(ours, at)}, Redis ${text(redis, at)}`);
}

void main();
