import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import { eventually } from './eventually';
import { freePort } from '../free-port';

/** Etsy's StatsD server from npm, in a process of its own. */
export async function startStatsdProcess(protocol: 'tcp' | 'udp') {
  const folder = await mkdtemp(join(tmpdir(), 'weir-statsd-'));
  const [port, adminPort] = await Promise.all([freePort(), freePort()]);
  const server = { server: `./servers/${protocol}`, address: '127.0.0.1', port };
  const config = {
    servers: [server],
    mgmt_address: '127.0.0.1',
    mgmt_port: adminPort,
    // It forgets its counters at each flush.
    flushInterval: 600_000,
    backends: [],
  };
  const file = join(folder, 'config.js');
  await writeFile(file, JSON.stringify(config));
  const script = join(__dirname, '../../../node_modules/statsd/stats.js');
  const child = spawn(process.execPath, [script, file], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  /** What its administration port says to a command. */
  const tell = (command: string) =>
    new Promise<string>((resolve, reject) => {
      let text = '';
      const socket = connect({ host: '127.0.0.1', port: adminPort }, () => {
        socket.write(`${command}\n`);
      });
      socket.on('error', reject);
      socket.on('data', (chunk) => {
        text += chunk.toString();
        if (/^END$/m.test(text)) socket.destroy();
      });
      socket.on('close', () => {
        resolve(text);
      });
    });
  await eventually(() => tell('stats'));
  return {
    port,
    /** Its counters by name. */
    async counters(): Promise<ReadonlyMap<string, number>> {
      const lines = (await tell('counters')).matchAll(/'?([\w.]+)'?: (\d+(?:\.\d+)?)/g);
      return new Map([...lines].map(([, name = '', value]) => [name, Number(value)]));
    },
    /** The names of its timers. */
    async timers(): Promise<readonly string[]> {
      const lines = (await tell('timers')).matchAll(/'?([\w.]+)'?: \[/g);
      return [...lines].map(([, name = '']) => name);
    },
    async stop() {
      child.kill('SIGKILL');
      await ended;
      await rm(folder, { recursive: true });
    },
  };
}
