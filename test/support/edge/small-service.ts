import { once } from 'node:events';
import { createTestClient } from './grpc-client';
import { residentMb } from './h2-polite';
import { besideAPoliteClient, warmUp } from './h2-siege';
import { eventually } from './eventually';
import { expectFigure } from './figure';
import { startMemcachedServer } from './memcached-server';
import { startRedisServer } from './redis-server';
import { createTemporaryDirectory, type TemporaryDirectory } from '../rule-directory';
import { startService, stopServices, type Service } from './service';

/** A small container: whatever one request or one client may cost has to fit. */
const HEAP_MB = 512;
/** The longest that others may wait for an answer. */
const MAX_WAIT_MS = 500;
/** What may stay once the attackers have gone: pages that the allocators keep, compiled code. */
const MAX_KEPT_MB = 50;
/** The most that an attack may cost while it lasts. */
const MAX_GROWTH_MB = 400;

/** One rule that a counter is needed for. */
export const ONE_RULE = `domain: d
descriptors:
  - { key: k, rate_limit: { unit: day, requests_per_unit: 10 } }
`;

const directories: TemporaryDirectory[] = [];
const servers: { stop(): Promise<unknown> }[] = [];
let shared: Service | undefined;

/** Ends the services, then what they used, and removes their rules; call it in `afterAll`. */
export async function stopSmallServices(): Promise<void> {
  await stopServices();
  for (const directory of directories.splice(0)) directory.remove();
  for (const server of servers.splice(0)) await server.stop();
}

/** Waits for a server that services use; it is stopped after them. */
export async function using<T extends { stop(): Promise<unknown> }>(start: Promise<T>): Promise<T> {
  const server = await start;
  servers.push(server);
  return server;
}

/** The settings of a small service that counts in a Redis of its own. */
export async function inRedis() {
  const redis = await using(startRedisServer());
  return { redis, env: { BACKEND_TYPE: 'redis', REDIS_URL: `127.0.0.1:${String(redis.port)}` } };
}

/** The same in memcached. */
export async function inMemcached() {
  const { port } = await using(startMemcachedServer());
  return { BACKEND_TYPE: 'memcache', MEMCACHE_HOST_PORT: `127.0.0.1:${String(port)}` };
}

/** A small service with one rule and no settings: the one of the test before, if that has left it in order. */
export async function sharedService(): Promise<Service> {
  if (shared !== undefined && !(await answers(shared))) {
    await shared.stop('SIGKILL');
    shared = undefined;
  }
  return (shared ??= await startSmallService(ONE_RULE));
}

async function answers({ http }: Service): Promise<boolean> {
  try {
    return (await fetch(`${http}/healthcheck`, { signal: AbortSignal.timeout(1_000) })).ok;
  } catch {
    return false;
  }
}

/** The built service with a heap of 512 MB and these rules, warm. */
export async function startSmallService(
  rules: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Service> {
  const directory = createTemporaryDirectory();
  directories.push(directory);
  directory.write('config/rules.yaml', rules);
  const service = await startService({
    waitUntilUp: env['BACKEND_TYPE'] === undefined ? true : 'connected',
    env: {
      BACKEND_TYPE: 'memory',
      GRPC_TRANSPORT: 'wire',
      RUNTIME_ROOT: directory.path,
      NODE_OPTIONS: `--max-old-space-size=${String(HEAP_MB)}`,
      ...env,
    },
  });
  await warmUp(service);
  return service;
}

/** What attackers still hold open, until they go. */
export interface Attackers {
  leave(): void;
}

export interface Bounds {
  /** The most that resident memory may grow meanwhile. */
  readonly growthMb?: number;
}

/**
 * Mounts an attack beside a caller of a domain without rules, and holds that this caller is answered in time, that the
 * process lives, and that its memory comes back. `strike` is bounded in count and time.
 */
export async function expectToWithstand(
  service: Service,
  strike: () => Promise<Attackers | undefined>,
  { growthMb = MAX_GROWTH_MB }: Bounds = {},
): Promise<void> {
  const beforeMb = await cleanMb(service);
  const { failures, grownMb, worstMs } = await besideAPoliteClient(service, async () => {
    const attackers = await strike();
    attackers?.leave();
  });
  expectAlive(service);
  expect([...new Set(failures.map(toKind))]).toEqual([]);
  expectFigure({ name: 'growth of memory', value: grownMb, unit: 'MB', below: growthMb });
  expectFigure({ name: 'longest wait of others', value: worstMs, unit: 'ms', below: MAX_WAIT_MS });
  const keptMb = await eventually(
    async () => {
      const kept = (await cleanMb(service)) - beforeMb;
      expect(kept).toBeLessThan(MAX_KEPT_MB);
      return kept;
    },
    { withinMs: 30_000 },
  );
  expectFigure({ name: 'memory kept', value: keptMb, unit: 'MB', below: MAX_KEPT_MB });
}

/** A failure without its times. */
const toKind = (failure: string) => failure.replace(/ after .*/, '');

export function expectAlive({ child, output }: Service): void {
  if (child.exitCode !== null || child.signalCode !== null)
    throw new Error(`the service has ended:\n${output().slice(-1_500)}`);
}

/** Resident memory after a collection: the debug port makes one before a profile of the heap. */
async function cleanMb({ debug, child }: Service): Promise<number> {
  const profile = await fetch(`${debug}/debug/pprof/heap?seconds=1&gc=1`);
  await profile.arrayBuffer();
  return residentMb(child.pid ?? 0);
}

/** Settles after this time: no test waits longer for an attack that stalls the service. */
export const expired = (ms: number): Promise<unknown> => once(AbortSignal.timeout(ms), 'abort');

/** Posts a body to `/json`; answers the status, or what went wrong. */
export async function postJson(
  { http }: Service,
  body: Buffer | string,
  headers: Readonly<Record<string, string>> = {},
): Promise<number | string> {
  try {
    const response = await fetch(`${http}/json`, {
      method: 'POST',
      body: typeof body === 'string' ? body : new Uint8Array(body),
      headers,
      signal: AbortSignal.timeout(5_000),
    });
    await response.arrayBuffer();
    return response.status;
  } catch (error) {
    return String(error);
  }
}

/** Asks these requests over gRPC, so many at a time; answers the codes that came. */
export async function askAll(
  { grpc }: Service,
  count: number,
  make: (index: number) => object,
  width = 50,
): Promise<readonly number[]> {
  const client = createTestClient(grpc);
  const codes: number[] = [];
  let next = 0;
  const caller = async () => {
    for (let failures = 0; next < count && failures < 3;) {
      const { code } = await client.ask(make(next++));
      codes.push(code);
      if (code === DEADLINE_EXCEEDED) failures++;
    }
  };
  await Promise.all(Array.from({ length: width }, caller));
  client.close();
  return codes;
}

const DEADLINE_EXCEEDED = 4;
