import { cpus } from 'node:os';
import { startRedisServer } from '../support/redis-server';
import { childrenOf, cpuMicros } from './cpu';
import { runGenerator } from './e2e-load';
import { DEFAULT_VARIANT, redisSettings, startMeasuredService } from './e2e-service';

const REQUESTS = Number(process.env['REQUESTS'] ?? 120_000);
const WARM_UP = 20_000;
const WORKERS = [1, 2, 4];
const CORES = cpus().length;

/**
 * Calls per second, and CPU µs per call of all processes together, for 1, 2 and 4 workers at 100×1, pinned to one core and
 * on all cores. Redis and the load use the core that pinning leaves, or share all.
 */
async function main(): Promise<void> {
  const redis = await startRedisServer();
  console.log(`${String(CORES)} × ${cpus()[0]?.model ?? 'unknown'}, node ${process.version}`);
  for (const cores of ['0', `0-${String(CORES - 1)}`]) {
    for (const workers of WORKERS) {
      const service = await startMeasuredService(
        { WORKERS: String(workers), DISABLE_STATS: 'true', ...redisSettings(redis.port) },
        { ...DEFAULT_VARIANT, cores },
      );
      const order = { port: service.port, connections: 100, inFlight: 1, perSecond: 0 };
      const load = (requests: number) =>
        runGenerator({ ...order, requests, keys: 1_000, varied: false });
      await load(WARM_UP);
      const pids = [service.pid, ...childrenOf(service.pid)];
      const before = pids.map(cpuMicros);
      const { ok, seconds } = await load(REQUESTS);
      const used = pids.map((pid, i) => cpuMicros(pid) - (before[i] ?? 0));
      const micros = used.reduce((sum, each) => sum + each, 0) / REQUESTS;
      const shares = used.map((each) => (each / REQUESTS).toFixed(1)).join(' ');
      console.log(
        `cores ${cores.padEnd(4)} ${String(workers)} workers  ${Math.round(ok / seconds)
          .toLocaleString('en')
          .padStart(8)} /s  ${micros.toFixed(2)} µs a call (each process: ${shares})`,
      );
      await service.stop();
    }
  }
  await redis.stop();
}

void main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
