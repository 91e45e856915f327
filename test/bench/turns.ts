import { cpuMicros } from './cpu';
import { median } from './measure';
import { openCounters } from './redis';
import { startRedisServer } from '../support/edge/redis-server';

type Opened = Awaited<ReturnType<typeof openCounters>>;

/** One of several loads that are compared. */
export interface Turn {
  readonly name: string;
  /** So many callers at a time, again and again. */
  readonly load: () => Promise<void>;
}

const WAVES = 20;
const IN_FLIGHT = 10;
export const PER_BATCH = 100;

/** Waves of batches of 100, ten in flight; `send` sends one, whatever it takes. */
export function inWaves(send: (perBatch: number) => Promise<unknown>): () => Promise<void> {
  return async () => {
    for (let wave = 0; wave < WAVES; wave += 1)
      await Promise.all(Array.from({ length: IN_FLIGHT }, () => send(PER_BATCH)));
  };
}

/**
 * Prints the CPU µs of each load: ours, and the server's, and how often those of the load at `baseOf` they are. The loads take
 * turns, so that a disturbance is shared.
 */
export async function compareOnRedis(
  title: string,
  rounds: number,
  make: (counters: Opened['counters']) => Promise<readonly Turn[]>,
  baseOf: (at: number) => number,
): Promise<void> {
  const server = await startRedisServer();
  const { counters, stop } = await openCounters(server.address);
  const turns = await make(counters);
  const ours = turns.map((): number[] => []);
  const redis = turns.map((): number[] => []);
  const items = WAVES * IN_FLIGHT * PER_BATCH;
  for (let round = 0; round < rounds + 1; round += 1) {
    for (const [at, { load }] of turns.entries()) {
      const [us, them] = [process.cpuUsage(), cpuMicros(server.pid)];
      await load();
      const { user, system } = process.cpuUsage(us);
      if (round === 0) continue;
      ours[at]?.push((user + system) / items);
      redis[at]?.push((cpuMicros(server.pid) - them) / items);
    }
  }
  await stop();
  await server.stop();
  console.log(`${title}, batches of 100 over 10,000 keys, ten in flight\n`);
  const text = (all: readonly number[][], at: number): string => {
    const [mine, base] = [at, baseOf(at)].map((one) => median(all[one] ?? [])) as [number, number];
    return `${mine.toFixed(2)} µs (${(mine / base).toFixed(2)} times)`;
  };
  for (const [at, { name }] of turns.entries())
    console.log(`${name.padEnd(26)} ours ${text(ours, at)}, Redis ${text(redis, at)}`);
}
