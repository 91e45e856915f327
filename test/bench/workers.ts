import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { startRedisServer } from '../support/edge/redis-server';
import { childrenOf, cpuMicros } from './cpu';
import { runGenerator, runH2load } from './e2e-load';
import { DEFAULT_VARIANT, redisSettings, startMeasuredService } from './e2e-service';
import { rateLimitMessage } from './request';

const REQUESTS = Number(process.env['REQUESTS'] ?? 120_000);
const WARM_UP = 20_000;
const PACED_REQUESTS = 20_000;
const PACED_PER_SECOND = 4_000;
const ROUNDS = Number(process.env['ROUNDS'] ?? 3);
const WORKERS = [1, 2, 4];
const CORES = cpus().length;
const SHAPE = { connections: 100, inFlight: 1 };

/** Asks the service of so many workers at a port so many times. */
type Load = (port: number, requests: number, workers: number) => Promise<unknown>;

/**
 * Calls per second, and CPU µs per call of the service, for 1, 2 and 4 workers at 100×1: the owner and its workers pinned to
 * one core, and on all cores. `h2load` and `generator` ask as fast as answers come, the first one cheaply, so that it leaves
 * most of the machine to the service; `paced` asks one call after another, as many per second for all. With `each` every
 * worker has the connections, or the calls per second, that one has alone: batches are as large as its own.
 */
async function main(): Promise<void> {
  const redis = await startRedisServer();
  const folder = mkdtempSync(join(tmpdir(), 'weir-bench-'));
  const body = join(folder, 'body');
  writeFileSync(body, rateLimitMessage('user', 'ann'));
  console.log(`${String(CORES)} × ${cpus()[0]?.model ?? 'unknown'}, node ${process.version}`);
  for (const cores of ['0', `0-${String(CORES - 1)}`]) {
    const shape = cores === '0' ? SHAPE : { ...SHAPE, cores };
    const loads: Readonly<Record<string, Load>> = {
      h2load: (port, requests) => runH2load(port, shape, requests, body),
      generator: (port, requests) => generate(port, requests, 0),
      paced: (port) => generate(port, PACED_REQUESTS, PACED_PER_SECOND),
      'h2load each': (port, requests, workers) =>
        runH2load(port, { ...shape, connections: SHAPE.connections * workers }, requests, body),
      'paced each': (port, _, workers) =>
        generate(port, PACED_REQUESTS, PACED_PER_SECOND * workers),
    };
    for (let round = 0; round < ROUNDS; round += 1)
      for (const workers of WORKERS)
        await measure({ workers, cores, redisPort: redis.port }, loads);
  }
  rmSync(folder, { recursive: true });
  await redis.stop();
}

function generate(port: number, requests: number, perSecond: number): Promise<unknown> {
  return runGenerator({ port, ...SHAPE, requests, perSecond, keys: 1_000, varied: false });
}

interface Measured {
  readonly workers: number;
  readonly cores: string;
  readonly redisPort: number;
}

async function measure(
  { workers, cores, redisPort }: Measured,
  loads: Readonly<Record<string, Load>>,
): Promise<void> {
  const service = await startMeasuredService(
    {
      ...{ WORKERS: String(workers), DISABLE_STATS: 'true', LOG_LEVEL: 'error' },
      ...redisSettings(redisPort),
    },
    { ...DEFAULT_VARIANT, cores },
  );
  const pids = [service.pid, ...childrenOf(service.pid)];
  for (const [name, load] of Object.entries(loads)) {
    const isRolling = name.startsWith('paced');
    const requests = isRolling ? PACED_REQUESTS : REQUESTS;
    if (!isRolling) await load(service.port, WARM_UP, workers);
    const before = pids.map(cpuMicros);
    const startedMs = performance.now();
    await load(service.port, requests, workers);
    const seconds = (performance.now() - startedMs) / 1_000;
    const used = pids.map((pid, i) => (cpuMicros(pid) - (before[i] ?? 0)) / requests);
    const micros = used.reduce((sum, each) => sum + each, 0);
    const perSecond = Math.round(requests / seconds).toLocaleString('en');
    const shares = used.map((each) => each.toFixed(1)).join(' ');
    console.log(
      `cores ${cores.padEnd(4)} ${String(workers)} workers  ${name.padEnd(11)}  ${perSecond.padStart(8)} /s  ${micros.toFixed(2).padStart(6)} µs a call (each process: ${shares})`,
    );
  }
  await service.stop();
}

void main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
