import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { readQueuedMs, startStopwatch } from './core-time';
import { eventually } from './eventually';
import { isSiege } from './figure';
import { freePort } from '../free-port';
import { settingsForWorkers } from './test-workers';

const ROOT = join(__dirname, '../../..');

/** The built service in a process of its own, on free ports. */
export interface Service {
  readonly child: ChildProcess;
  readonly http: string;
  readonly grpc: string;
  readonly debug: string;
  /** Everything that it printed so far. */
  output(): string;
  /** Milliseconds from its start until `/healthcheck` answered and the rules were looked at, less those in which it, or who asked it, waited for a core. */
  readonly startMs: number;
  /** Sends a signal and waits for the end; answers the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

export interface ServiceOptions {
  readonly env?: Readonly<Record<string, string>>;
  /**
   * `false`: do not wait until it is up; `answering`: nor until the rules were looked at; `connected`: until its store is
   * connected too, for which it waits a moment only by itself.
   */
  readonly waitUntilUp?: boolean | 'answering' | 'connected';
  readonly withinMs?: number;
  /** Its standard output is a terminal, made by `script`. */
  readonly inTerminal?: boolean;
  /** Of its command line. */
  readonly words?: readonly string[];
}

/** In the siege, which judges how long a start takes, it is asked more often. */
const EVERY_MS = isSiege ? 5 : 15;

const running = new Set<ChildProcess>();

/** Ends what a failed test left behind; call it in `afterEach`. */
export async function stopServices(): Promise<void> {
  await Promise.all([...running].map((child) => stop(child, 'SIGKILL')));
}

/** Starts `dist/src/bin/ratelimit.js` with nothing in its environment but PATH, its ports and `env`. */
export async function startService({
  env = {},
  waitUntilUp = true,
  withinMs = 20_000,
  inTerminal = false,
  words: given,
}: ServiceOptions = {}): Promise<Service> {
  const [http, grpc, debug] = await Promise.all([freePort(), freePort(), freePort()]);
  const ofWorkers = await settingsForWorkers(env);
  const elapsedMs = startStopwatch();
  const [program, ...words] = commandLine(inTerminal, given);
  const child = spawn(program, words, {
    cwd: ROOT,
    env: {
      PATH: process.env['PATH'],
      HOST: '127.0.0.1',
      GRPC_HOST: '127.0.0.1',
      DEBUG_HOST: '127.0.0.1',
      PORT: String(http),
      GRPC_PORT: String(grpc),
      DEBUG_PORT: String(debug),
      DISABLE_STATS: 'true',
      RUNTIME_ROOT: join(ROOT, 'examples'),
      ...(waitUntilUp === 'connected' && { KVSTORE_HEALTH_CHECK_ACTIVE_CONNECTION: 'true' }),
      ...ofWorkers.settings,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  child.once('exit', () => {
    running.delete(child);
    void ofWorkers.stop();
  });
  let output = '';
  const collect = (chunk: Buffer) => (output += chunk.toString());
  child.stdout.on('data', collect);
  child.stderr.on('data', collect);
  const service: Service = {
    child,
    http: `http://127.0.0.1:${String(http)}`,
    grpc: `127.0.0.1:${String(grpc)}`,
    debug: `http://127.0.0.1:${String(debug)}`,
    output: () => output,
    startMs: 0,
    stop: (signal = 'SIGTERM') => stop(child, signal),
  };
  if (waitUntilUp === false) return service;
  let isListening = false;
  await eventually(
    async () => {
      if (child.exitCode !== null) throw new Error(`the service ended at once:\n${output}`);
      if (!isListening) await connectTo(http);
      isListening = true;
      const health = await fetch(`${service.http}/healthcheck`);
      const text = await health.text();
      if (waitUntilUp === 'answering') return;
      if (/start|workers/.test(text)) throw new Error(`not all of it is there yet: ${text}`);
      if (waitUntilUp === 'connected' && !health.ok) throw new Error(text);
    },
    { withinMs, everyMs: EVERY_MS },
  );
  return { ...service, startMs: elapsedMs() - (readQueuedMs(child.pid ?? 0) ?? 0) };
}

/** Costs the starting service less of a core than a call that fails. */
async function connectTo(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
  } finally {
    socket.destroy();
  }
}

function commandLine(
  inTerminal: boolean,
  words: readonly string[] = [],
): readonly [string, ...string[]] {
  const script = join(ROOT, 'dist/src/bin/ratelimit.js');
  return inTerminal
    ? ['script', '-qefc', `${process.execPath} ${script}`, '/dev/null']
    : [process.execPath, script, ...words];
}

async function stop(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  // Not at its exit: what it printed last may still be on its way.
  const ended = once(child, 'close') as Promise<[number | null]>;
  child.kill(signal);
  const [code] = await ended;
  return code;
}

export interface JsonAnswer {
  readonly status: number;
  readonly body: {
    readonly overallCode?: string;
    readonly error?: string;
    readonly statuses?: readonly { readonly code: string; readonly limitRemaining?: number }[];
  };
}

/** Asks `/json` for one descriptor of `key=value`. */
export async function ask(service: Service, domain: string, entry: string): Promise<JsonAnswer> {
  const [key, value] = entry.split('=');
  const response = await fetch(`${service.http}/json`, {
    method: 'POST',
    body: JSON.stringify({ domain, descriptors: [{ entries: [{ key, value }] }] }),
  });
  return { status: response.status, body: (await response.json()) as JsonAnswer['body'] };
}
