import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from './eventually';
import { freePort } from '../free-port';
import { PROXY_PROGRAMS, toProxyConfig, type ProxyProgram } from './proxy-programs';

const EXAMPLES = join(__dirname, '../../../examples');

export interface Proxy {
  readonly url: string;
  stop(): Promise<void>;
}

const running = new Set<ChildProcess>();

/** Ends what a failed test left behind; call it in `afterEach`. */
export async function stopProxies(): Promise<void> {
  await Promise.all([...running].map(end));
}

/** Starts a proxy with the file of its example, which `edit` may change, in front of a service at `host:port`. */
export async function startProxy(
  program: string,
  name: keyof typeof PROXY_PROGRAMS,
  weir: string,
  edit = (text: string) => text,
): Promise<Proxy> {
  const [port, upstream] = await Promise.all([freePort(), freePort()]);
  const folder = mkdtempSync(join(tmpdir(), 'weir-proxy-'));
  const { file, words }: ProxyProgram = PROXY_PROGRAMS[name];
  const written = join(folder, 'config');
  const places = { proxy: port, upstream, weir };
  const text = toProxyConfig(edit(readFileSync(join(EXAMPLES, file), 'utf8')), places)
    // A busy machine may take longer, and what is late passes.
    .replaceAll(/\b[12][05]0ms/g, '20s');
  writeFileSync(written, text);
  const child = spawn(program, words(written, folder), {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: process.env['PATH'], HOME: folder },
  });
  running.add(child);
  let log = '';
  child.stderr.on('data', (chunk: Buffer) => (log = (log + chunk.toString()).slice(-4_000)));
  child.once('exit', () => {
    running.delete(child);
    rmSync(folder, { recursive: true, force: true });
  });
  const url = `http://127.0.0.1:${String(port)}`;
  await eventually(
    async () => {
      if (child.exitCode !== null) throw new Error(`${name} ended at once:\n${log}`);
      await (await fetch(url)).arrayBuffer();
    },
    { withinMs: 30_000 },
  );
  return { url, stop: () => end(child) };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}
