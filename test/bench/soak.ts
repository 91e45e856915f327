import { parseArgs } from 'node:util';
import { startRedisServer } from '../support/edge/redis-server';
import { startStatsdUdp } from '../support/statsd-server';
import { cpuMicros, residentMegabytes } from './cpu';
import { runGenerator } from './e2e-load';
import {
  DEFAULT_VARIANT,
  moveToLoadCore,
  redisSettings,
  startMeasuredService,
  statsdSettings,
} from './e2e-service';
import { soakWorkers } from './soak-workers';

/** A round; memory is looked at after each. */
const ROUND = 1_000_000;

/**
 * Asks the built service for many decisions, all with headers of their own, over 10,000 keys, and shows that its
 * memory stays what it was, statistics on: `--requests 50000000`, `--store memory` for counters without Redis. A million new keys a
 * minute for half an hour: `--store memory --requests 30000000 --keys 1000000 --rate 16667 --unit minute`. With
 * `--workers 4 --kill 10` several workers, of which one is killed every 10 s, for `--minutes 30`.
 */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      requests: { type: 'string', default: '50000000' },
      store: { type: 'string', default: 'redis' },
      connections: { type: 'string', default: '10' },
      keys: { type: 'string', default: '10000' },
      rate: { type: 'string', default: '0' },
      unit: { type: 'string', default: 'day' },
      workers: { type: 'string', default: '1' },
      kill: { type: 'string', default: '10' },
      minutes: { type: 'string', default: '30' },
    },
  });
  if (values.workers !== '1') {
    const { workers, connections, kill, minutes } = values;
    await soakWorkers({
      workers,
      connections: Number(connections),
      killSeconds: Number(kill),
      minutes: Number(minutes),
    });
    return;
  }
  const redis = values.store === 'redis' ? await startRedisServer() : undefined;
  if (redis !== undefined) moveToLoadCore(redis.pid);
  const backend = redis === undefined ? { BACKEND_TYPE: 'memory' } : redisSettings(redis.port);
  const statsd = await startStatsdUdp();
  const service = await startMeasuredService(
    { GRPC_TRANSPORT: 'wire', ...statsdSettings(statsd.port), ...backend },
    { ...DEFAULT_VARIANT, rateLimit: `unit: ${values.unit}, requests_per_unit: 4000000000` },
  );
  try {
    console.log(`${residentMegabytes(service.pid).toFixed(1)} MB before the first call`);
    const rounds = Math.max(1, Math.round(Number(values.requests) / ROUND));
    const connections = Number(values.connections);
    for (let round = 1; round <= rounds; round++) {
      const before = cpuMicros(service.pid);
      const { ok, seconds } = await runGenerator({
        ...{ port: service.port, connections, inFlight: 100, requests: ROUND },
        ...{ perSecond: Number(values.rate), keys: Number(values.keys), varied: true },
      });
      if (ok !== ROUND) throw new Error(`of ${String(ROUND)} calls ${String(ok)} were good`);
      const micros = (cpuMicros(service.pid) - before) / ROUND;
      console.log(
        `${String(round).padStart(4)} million  ${residentMegabytes(service.pid).toFixed(1).padStart(7)} MB  ${micros.toFixed(2)} µs  ${Math.round(ROUND / seconds).toLocaleString('en')} /s`,
      );
    }
  } finally {
    await service.stop();
    await statsd.stop();
    await redis?.stop();
  }
}

void main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
