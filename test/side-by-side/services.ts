import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestClient } from '../support/edge/grpc-client';
import { eventually } from '../support/edge/eventually';
import { freePort } from '../support/free-port';
import type { RedisServer } from '../support/edge/redis-server';
import { startStatsdTcp } from '../support/statsd-server';

/** What releases of the reference may lack. */
export interface Features {
  /** Wildcards in the middle of values (6bcd4d2). */
  readonly middle: boolean;
  /** The mend of quotas (05c08d0). */
  readonly quota: boolean;
}

export interface Played {
  ask(request: object): ReturnType<ReturnType<typeof createTestClient>['ask']>;
  /** Sums of what was counted, once nothing more comes. */
  counted(): Promise<Readonly<Record<string, number>>>;
  stop(): Promise<void>;
}

const FLUSH_MS = 1_000;

/** Starts a command with rules, a Redis and a StatsD server of its own. */
export async function startPlayed(
  [command, ...words]: readonly [string, ...string[]],
  rules: Readonly<Record<string, string>>,
  redis: RedisServer,
  settings: Readonly<Record<string, string>>,
): Promise<Played> {
  const root = mkdtempSync(join(tmpdir(), 'weir-side-'));
  mkdirSync(join(root, 'config'));
  for (const [name, text] of Object.entries(rules)) writeFileSync(join(root, 'config', name), text);
  const statsd = await startStatsdTcp();
  const [http, grpc, debug] = await Promise.all([freePort(), freePort(), freePort()]);
  const child = spawn(command, words, {
    env: {
      PATH: process.env['PATH'],
      ...{ HOST: '127.0.0.1', GRPC_HOST: '127.0.0.1', DEBUG_HOST: '127.0.0.1' },
      ...{ PORT: String(http), GRPC_PORT: String(grpc), DEBUG_PORT: String(debug) },
      ...{ RUNTIME_ROOT: root, RUNTIME_SUBDIRECTORY: '.', RUNTIME_WATCH_ROOT: 'false' },
      ...{ REDIS_SOCKET_TYPE: 'tcp', REDIS_URL: `127.0.0.1:${String(redis.port)}` },
      ...{ USE_STATSD: 'true', STATSD_HOST: '127.0.0.1', STATSD_PORT: String(statsd.port) },
      ...{ GOSTATS_FLUSH_INTERVAL_SECONDS: '1', STATS_FLUSH_INTERVAL: '1s' },
      ...{ BACKEND_TYPE: 'redis', LOG_LEVEL: 'error', EXPIRATION_JITTER_MAX_SECONDS: '0' },
      ...settings,
    },
    stdio: 'ignore',
  });
  const ended = once(child, 'exit');
  await eventually(
    async () => {
      if (child.exitCode !== null) throw new Error(`${command} ended at once`);
      const { ok } = await fetch(`http://127.0.0.1:${String(http)}/healthcheck`);
      if (!ok) throw new Error('not healthy yet');
    },
    { withinMs: 30_000, everyMs: 50 },
  );
  const client = createTestClient(`127.0.0.1:${String(grpc)}`);
  return {
    ask: (request) => client.ask(request),
    async counted() {
      for (let seen = ''; ;) {
        await new Promise((resolve) => setTimeout(resolve, 1.5 * FLUSH_MS));
        const sums = sumsOf(statsd.lines);
        if (seen === JSON.stringify(sums)) return sums;
        seen = JSON.stringify(sums);
      }
    },
    async stop() {
      client.close();
      child.kill('SIGKILL');
      await ended;
      await statsd.stop();
      rmSync(root, { recursive: true });
    },
  };
}

function sumsOf(lines: readonly string[]): Readonly<Record<string, number>> {
  const sums: Record<string, number> = {};
  for (const line of lines) {
    const [, name = '', value] = /^(.*):(\d+)\|c$/.exec(line) ?? [];
    if (name.startsWith('ratelimit.service.rate_limit.') && value !== '0')
      sums[name] = (sums[name] ?? 0) + Number(value);
  }
  return sums;
}

const HOURLY = { unit: 'hour', requests_per_unit: 0 };

/** What a release knows, by what it answers. */
export async function probeFeatures(
  command: readonly [string, ...string[]],
  redis: RedisServer,
): Promise<Features> {
  const descriptors = [
    { key: 'path', value: 'a*c', rate_limit: HOURLY },
    { key: 'quota', rate_limit: HOURLY, quota_mode: true },
  ];
  const rules = { 'probe.yaml': JSON.stringify({ domain: 'probe', descriptors }) };
  const played = await startPlayed(command, rules, redis, {});
  const isOver = async (key: string, value: string) => {
    const request = { domain: 'probe', descriptors: [{ entries: [{ key, value }] }] };
    const { response } = await played.ask(request);
    return (response as { readonly overallCode?: string }).overallCode === 'OVER_LIMIT';
  };
  const features = { middle: await isOver('path', 'abc'), quota: await isOver('quota', 'x') };
  await played.stop();
  await redis.client.flushall();
  return features;
}
