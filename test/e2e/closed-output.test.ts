import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const BIN = join(__dirname, '../../dist/src/bin');

/** Runs a command whose reader is gone before it starts, as `… | head -1` may leave it: it waits for a line until then. */
async function runUnread(command: string, words: readonly string[]) {
  const waiting = ['-c', 'read line; exec "$@"', 'sh'];
  const child = spawn('sh', [...waiting, process.execPath, join(BIN, `${command}.js`), ...words]);
  child.stdout.destroy();
  child.stdin.on('error', () => undefined).end('start\nvalue\n');
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stderr };
}

it.each([
  ['ratelimit-config-check', '-help'],
  ['ratelimit-config-check', '-config_dir', 'examples/config'],
  ['ratelimit-config-check', '-config_dir', 'no-such-directory'],
  ['ratelimit-hash-value', '-help'],
  ['ratelimit-simulate', '-help'],
  ['ratelimit-client', '-help'],
  ['ratelimit', '--help'],
  ['ratelimit', '--version'],
  ['ratelimit', '--completion', 'bash'],
  ['weir', '--help'],
  ['identity', '--help'],
  ['identity', 'serve', '--help'],
  ['identity', '--completion', 'bash'],
])('%s %s ends without a word when nobody reads its output', async (command, ...words) => {
  expect(await runUnread(command, words)).toEqual({ code: 141, stderr: '' });
});
