import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startRedisServer, type RedisServer } from '../support/edge/redis-server';
import { startStatsdUdp } from '../support/statsd-server';
import { cpuMicros } from './cpu';
import { runGenerator, runH2load, type Shape } from './e2e-load';
import {
  moveToLoadCore,
  redisSettings,
  startMeasuredService,
  statsdSettings,
  type MeasuredService,
  type Variant,
} from './e2e-service';
import { median } from './measure';
import { rateLimitMessage } from './request';

/** One of those that are compared. */
interface Rival {
  readonly name: string;
  readonly service: MeasuredService;
  readonly costs: number[];
}

const WARM_UP_ROUNDS = 3;
const USAGE = `npm run bench:compare -- <build>[@<settings as JSON>] … [--load h2load|alike|varied] [--shape 10x100] [--rounds 9] [--limit 'unit: …']`;

/**
 * CPU per decision of several builds, or of one with several settings, by turns against one Redis: the speed of a machine
 * changes within minutes, its ratio to itself a second ago does not.
 */
async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      load: { type: 'string', default: 'h2load' },
      shape: { type: 'string', default: '10x100' },
      rounds: { type: 'string', default: '9' },
      limit: { type: 'string' },
    },
  });
  if (positionals.length < 2) throw new Error(USAGE);
  const shape = toShape(values.shape);
  const folder = await mkdtemp(join(tmpdir(), 'weir-bench-'));
  const body = join(folder, 'request');
  await writeFile(body, rateLimitMessage('user', 'user-1'));
  const [redis, statsd] = await Promise.all([startRedisServer(), startStatsdUdp()]);
  moveToLoadCore(redis.pid);
  moveToLoadCore(process.pid);
  const rivals: Rival[] = [];
  try {
    for (const name of positionals) {
      const variant = { ...toVariant(name), rateLimit: values.limit };
      const service = await startVariant(variant, redis, statsd.port);
      rivals.push({ name, service, costs: [] });
    }
    const play = ({ service }: Rival) => measure(service, shape, values.load, body);
    for (let round = 0; round < WARM_UP_ROUNDS; round++)
      for (const rival of rivals) await play(rival);
    for (let round = 0; round < Number(values.rounds); round++) {
      const order = round % 2 === 0 ? rivals : rivals.toReversed();
      for (const rival of order) rival.costs.push(await play(rival));
    }
    for (const rival of rivals) console.log(toText(rival, rivals[0] as Rival));
  } finally {
    for (const { service } of rivals) await service.stop();
    await statsd.stop();
    await redis.stop();
    await rm(folder, { recursive: true });
  }
}

function toShape(text: string): Shape {
  const [connections, inFlight] = text.split('x').map(Number);
  if (!connections || !inFlight) throw new Error(`--shape "${text}": expected 10x100 or the like`);
  return { connections, inFlight };
}

function toVariant(text: string): Variant {
  const [dist = '', settings = '{}'] = text.split(/@(.*)/s);
  return { dist, settings: JSON.parse(settings) as Record<string, string> };
}

function startVariant(variant: Variant, redis: RedisServer, statsdPort: number) {
  const env = { ...redisSettings(redis.port), ...statsdSettings(statsdPort) };
  return startMeasuredService(env, variant);
}

/** CPU µs of the service per decision. */
async function measure(
  { pid, port }: MeasuredService,
  shape: Shape,
  load: string,
  body: string,
): Promise<number> {
  const requests = shape.inFlight === 1 ? 60_000 : 200_000;
  const isVaried = load === 'varied';
  const before = cpuMicros(pid);
  if (load === 'h2load') await runH2load(port, shape, requests, body);
  else {
    const order = { port, ...shape, requests, perSecond: 0 };
    await runGenerator({ ...order, keys: isVaried ? 10_000 : 1, varied: isVaried });
  }
  return (cpuMicros(pid) - before) / requests;
}

function toText({ name, costs }: Rival, first: Rival): string {
  const ratio = median(costs.map((cost, round) => cost / (first.costs[round] as number)));
  const figures = [median(costs), Math.min(...costs)].map((micros) =>
    micros.toFixed(2).padStart(6),
  );
  return `${figures[0] ?? ''} µs (least ${figures[1] ?? ''})  ${ratio.toFixed(3)} of the first  ${name}`;
}

void main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
});
