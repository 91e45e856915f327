import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from './eventually';
import { freePort } from '../free-port';
import { toEnvoyConfig, type EnvoyOptions } from '../envoy-config';

export interface EnvoyAnswer {
  readonly status: number;
  /** `x-ratelimit-limit`; without it the service was not heard. */
  readonly limit: string | null;
  readonly remaining: string | null;
}

export interface WholeAnswer {
  readonly status: number;
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly body: string;
}

export interface EnvoyProcess {
  /** One of its counters or gauges; 0 when it does not exist yet. */
  counter(name: string): Promise<number>;
  stop(): Promise<void>;
}

/** A running Envoy whose `/a` is limited by the service. */
export interface Envoy extends EnvoyProcess {
  get(headers?: Readonly<Record<string, string>>, path?: string): Promise<EnvoyAnswer>;
  /** The same with every header field as it came, names in lower case. */
  getWhole(headers?: Readonly<Record<string, string>>): Promise<WholeAnswer>;
}

const running = new Set<() => Promise<void>>();

/** Ends what a failed test left behind; call it in `afterEach`. */
export async function stopEnvoys(): Promise<void> {
  await Promise.all([...running].map((stop) => stop()));
}

export async function startEnvoy(program: string, options: EnvoyOptions): Promise<Envoy> {
  const [port, upstreamPort] = await Promise.all([freePort(), freePort()]);
  const config = JSON.stringify(toEnvoyConfig(options, port, upstreamPort));
  const process = await startEnvoyWith(program, config);
  return {
    async get(headers = {}, path = '/a') {
      const answer = await fetch(`http://127.0.0.1:${String(port)}${path}`, { headers });
      await answer.arrayBuffer();
      return {
        status: answer.status,
        limit: answer.headers.get('x-ratelimit-limit'),
        remaining: answer.headers.get('x-ratelimit-remaining'),
      };
    },
    getWhole: (headers = {}) => getWhole(port, headers),
    ...process,
  };
}

/** Starts it with the text of its configuration, YAML or JSON, which leaves the address of its admin port open. */
export async function startEnvoyWith(program: string, config: string): Promise<EnvoyProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'envoy-'));
  const file = join(folder, 'envoy.yaml');
  const adminFile = join(folder, 'admin');
  writeFileSync(file, config);
  const flags = ['--disable-hot-restart', '--concurrency', '1', '-l', 'warning'];
  const child = spawn(program, ['-c', file, '--admin-address-path', adminFile, ...flags], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let log = '';
  child.stderr.on('data', (chunk: Buffer) => (log = (log + chunk.toString()).slice(-4_000)));
  const stop = async () => {
    running.delete(stop);
    await end(child);
    rmSync(folder, { recursive: true, force: true });
  };
  running.add(stop);
  const admin = await eventually(
    async () => {
      if (child.exitCode !== null) throw new Error(`envoy ended at once: ${log}`);
      const address = readFileSync(adminFile, 'utf8');
      const ready = await fetch(`http://${address}/ready`);
      if ((await ready.text()).trim() !== 'LIVE') throw new Error('envoy is not live');
      return address;
    },
    { withinMs: 30_000, everyMs: 20 },
  );
  return {
    async counter(name) {
      const text = await (await fetch(`http://${admin}/stats?filter=^${name}$`)).text();
      return Number(text.split(': ')[1] ?? '0');
    },
    stop,
  };
}

/** `fetch` joins the fields of one name, and this is about how often each comes. */
async function getWhole(
  port: number,
  headers: Readonly<Record<string, string>>,
): Promise<WholeAnswer> {
  const request = get({ host: '127.0.0.1', port, path: '/a', headers, agent: false });
  const [answer] = (await once(request, 'response')) as [IncomingMessage];
  const body = (await answer.setEncoding('utf8').toArray()).join('');
  const { statusCode = 0, rawHeaders: raw } = answer;
  const fields = raw.flatMap((name, at) =>
    at % 2 === 0 ? [[name.toLowerCase(), raw[at + 1] ?? ''] as const] : [],
  );
  return { status: statusCode, fields, body };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}
