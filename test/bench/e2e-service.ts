import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../support/edge/eventually';
import { freePort } from '../support/free-port';

/** The cores of the measured service, and of all that loads it. */
export const SERVICE_CORE = 0;
export const LOAD_CORE = 1;

/** A service alone on its core. */
export interface MeasuredService {
  readonly pid: number;
  /** From its start until it was healthy. */
  readonly startMs: number;
  readonly port: number;
  readonly httpPort: number;
  /** Of the debug port. */
  readonly debugPort: number;
  stop(): Promise<void>;
}

/** One rule that is never over its limit, for every value of `user`. */
const NEVER_OVER = 'unit: day, requests_per_unit: 4000000000';

function rulesOf(rateLimits: Readonly<Record<string, string>>): string {
  const rules = Object.entries(rateLimits).map(
    ([key, rateLimit]) => `  - { key: ${key}, rate_limit: { ${rateLimit} } }\n`,
  );
  return `domain: edge\ndescriptors:\n${rules.join('')}`;
}

/** Statistics on, as in all figures, to a sink on loopback. */
export function statsdSettings(port: number): Readonly<Record<string, string>> {
  return {
    USE_STATSD: 'true',
    STATSD_HOST: '127.0.0.1',
    STATSD_PORT: String(port),
    STATSD_PROTOCOL: 'udp',
  };
}

export function redisSettings(port: number): Readonly<Record<string, string>> {
  return { BACKEND_TYPE: 'redis', REDIS_URL: `127.0.0.1:${String(port)}` };
}

/** Where a service has its files and listens. */
export interface Place {
  /** A folder of its own, with the rules in `runtime/config/edge.yaml`. */
  readonly folder: string;
  readonly httpPort: number;
  readonly port: number;
  readonly debugPort: number;
}

/** How a service is started. */
export interface Program {
  readonly command: readonly string[];
  /** More environment than that of ours. */
  readonly env?: Readonly<Record<string, string>>;
  /** On the HTTP port; answers 200 from when the service is ready. */
  readonly healthPath?: string;
}

/** What is measured. */
export interface Variant {
  /** The folder of the build; of no meaning with `program`. */
  readonly dist: string;
  /** Another service, in place of a build of ours. */
  readonly program?: (place: Place) => Program | Promise<Program>;
  /** More settings than those of the bench. */
  readonly settings: Readonly<Record<string, string>>;
  /** The limit of every value of `user`; one that is never over when undefined. */
  readonly rateLimit?: string | undefined;
  /** The limits of every value of other keys. */
  readonly moreLimits?: Readonly<Record<string, string>>;
  /** The cores that it may use, as `taskset -c` has them; SERVICE_CORE unless given. */
  readonly cores?: string;
}

/** Another build comes from WEIR_DIST, more settings from WEIR_SETTINGS, as JSON: `{"TRACING_ENABLED":"true"}`. */
export const DEFAULT_VARIANT: Variant = {
  dist: process.env['WEIR_DIST'] ?? 'dist',
  settings: JSON.parse(process.env['WEIR_SETTINGS'] ?? '{}') as Record<string, string>,
};

/** Starts a build; more arguments of node come from WEIR_NODE_ARGS (`--cpu-prof`). */
export async function startMeasuredService(
  env: Readonly<Record<string, string>>,
  {
    dist,
    settings,
    program = () => ({ command: commandOf(dist) }),
    rateLimit = NEVER_OVER,
    moreLimits = {},
    cores = String(SERVICE_CORE),
  }: Variant = DEFAULT_VARIANT,
): Promise<MeasuredService> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-bench-'));
  // The folder around it is watched too, and others work in that of all temporary files.
  const root = join(folder, 'runtime');
  await mkdir(join(root, 'config'), { recursive: true });
  await writeFile(join(root, 'config', 'edge.yaml'), rulesOf({ user: rateLimit, ...moreLimits }));
  const [httpPort, port, debugPort] = await Promise.all([freePort(), freePort(), freePort()]);
  const place = { folder, httpPort, port, debugPort };
  const { command, env: more = {}, healthPath = '/healthcheck' } = await program(place);
  const startedMs = performance.now();
  const child = spawn('taskset', ['-c', cores, ...command], {
    env: {
      PATH: process.env['PATH'],
      HOST: '127.0.0.1',
      GRPC_HOST: '127.0.0.1',
      DEBUG_HOST: '127.0.0.1',
      PORT: String(httpPort),
      GRPC_PORT: String(port),
      DEBUG_PORT: String(debugPort),
      RUNTIME_ROOT: root,
      ...env,
      ...more,
      ...settings,
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = once(child, 'exit');
  await eventually(
    async () => {
      if (child.exitCode !== null) throw new Error('the service ended at once');
      const { status } = await fetch(`http://127.0.0.1:${String(httpPort)}${healthPath}`);
      if (status !== 200) throw new Error(`not healthy: ${String(status)}`);
    },
    { withinMs: 20_000, everyMs: 10 },
  );
  return {
    pid: child.pid as number,
    startMs: performance.now() - startedMs,
    port,
    httpPort,
    debugPort,
    async stop() {
      child.kill('SIGTERM');
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function commandOf(dist: string): readonly string[] {
  const more = process.env['WEIR_NODE_ARGS']?.split(' ') ?? [];
  return [process.execPath, ...more, join(process.cwd(), dist, 'src/bin/ratelimit.js')];
}

/** Moves a process with all its threads to the core of the load. */
export function moveToLoadCore(pid: number): void {
  spawnSync('taskset', ['-a', '-c', '-p', String(LOAD_CORE), String(pid)]);
}
