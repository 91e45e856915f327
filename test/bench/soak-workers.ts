import { readdirSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { createTestClient } from '../support/edge/grpc-client';
import { startRedisServer, type RedisServer } from '../support/edge/redis-server';
import { childrenOf, residentMegabytes } from './cpu';
import { DEFAULT_VARIANT, redisSettings, startMeasuredService } from './e2e-service';

export interface WorkersSoak {
  readonly workers: string;
  readonly connections: number;
  /** Seconds from one death of a worker to the next. */
  readonly killSeconds: number;
  readonly minutes: number;
}

const REQUEST = {
  domain: 'edge',
  descriptors: [{ entries: [{ key: 'user', value: 'ann' }] }],
};
/** Kills at whose time the owner's memory is compared: the first so many, and the last. */
const COMPARED_KILLS = 10;
/** What the owner may hold more at the end: the young generation of its heap, full or empty. */
const SPARE_MEGABYTES = 32;
/** Files that the owner may have open beyond those of its start: connections that are on their way. */
const SPARE_FILES = 4;

/** Kills one worker after another under load, and shows that no count is lost, memory stays and no file is left open. */
export async function soakWorkers(soak: WorkersSoak): Promise<void> {
  const { workers, connections, killSeconds, minutes } = soak;
  const redis = await startRedisServer();
  const cores = process.env['CORES'] ?? '0,1';
  const service = await startMeasuredService(
    { WORKERS: workers, USE_STATSD: 'false', DISABLE_STATS: 'true', ...redisSettings(redis.port) },
    { ...DEFAULT_VARIANT, cores },
  );
  const files = (): number => readdirSync(`/proc/${String(service.pid)}/fd`).length;
  const filesBefore = files();
  const counts = { good: 0, bad: 0, kills: 0 };
  const ownerMegabytes: number[] = [];
  let isOver = false;
  const ask = async (): Promise<void> => {
    const client = createTestClient(`127.0.0.1:${String(service.port)}`);
    while (!isOver) counts[(await client.ask(REQUEST)).code === 0 ? 'good' : 'bad'] += 1;
    client.close();
  };
  const asking = Promise.all(Array.from({ length: connections }, ask));
  try {
    const kills = Math.max(1, Math.round((minutes * 60) / killSeconds));
    while (counts.kills < kills) {
      await delay(killSeconds * 1_000);
      const children = childrenOf(service.pid);
      const victim = children[counts.kills % children.length];
      if (victim === undefined) throw new Error('there is no worker to kill');
      const memory = [service.pid, ...children].map(residentMegabytes);
      ownerMegabytes.push(memory[0] ?? 0);
      process.kill(victim, 'SIGKILL');
      counts.kills += 1;
      console.log(
        `${String(counts.kills).padStart(4)} killed  ${counts.good.toLocaleString('en')} good, ${String(counts.bad)} failed  ${String(files())} files  MB: ${memory.map((megabytes) => megabytes.toFixed(0)).join(' ')}`,
      );
    }
  } finally {
    isOver = true;
    await asking;
    const counted = await sumOfCounters(redis);
    const filesNow = files();
    await service.stop();
    await redis.stop();
    check(counts, {
      ...{ counted, ownerMegabytes },
      connectionsOfOne: Math.ceil(connections / Number(workers)),
      filesMore: filesNow - filesBefore,
    });
  }
}

interface End {
  readonly counted: number;
  /** Connections that a worker holds, at most. */
  readonly connectionsOfOne: number;
  readonly filesMore: number;
  /** At each kill. */
  readonly ownerMegabytes: readonly number[];
}

function check(counts: { good: number; bad: number; kills: number }, end: End): void {
  const { good, bad, kills } = counts;
  const { counted, connectionsOfOne, filesMore, ownerMegabytes } = end;
  if (counted < good || counted > good + bad)
    throw new Error(
      `${String(counted)} hits counted, ${String(good)} answered, ${String(bad)} failed`,
    );
  // A client may meet the dead connection once more before it knows.
  if (bad > kills * connectionsOfOne * 2) throw new Error(`${String(bad)} calls failed`);
  if (filesMore > SPARE_FILES)
    throw new Error(`the owner has ${String(filesMore)} more files open`);
  const first = Math.max(...ownerMegabytes.slice(0, COMPARED_KILLS));
  const last = Math.max(...ownerMegabytes.slice(-COMPARED_KILLS));
  if (last > first + SPARE_MEGABYTES)
    throw new Error(
      `the owner held ${first.toFixed(0)} MB at first and ${last.toFixed(0)} MB in the end`,
    );
  console.log(
    `ok: ${counted.toLocaleString('en')} hits counted, no file left open, the owner held ${last.toFixed(0)} MB in the end`,
  );
}

async function sumOfCounters({ client }: RedisServer): Promise<number> {
  const keys = await client.keys('*');
  const values = keys.length === 0 ? [] : await client.mget(keys);
  return values.reduce((sum, value) => sum + Number(value), 0);
}
