import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
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

/** Runs a command whose output goes to a full device. */
async function runFull(command: string, words: readonly string[]) {
  const full = openSync('/dev/full', 'w');
  const child = spawn(process.execPath, [join(BIN, `${command}.js`), ...words], {
    stdio: ['pipe', full, 'pipe'],
  });
  closeSync(full);
  child.stdin?.on('error', () => undefined).end('value\n');
  let stderr = '';
  child.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stderr };
}

const COMMANDS: readonly (readonly [string, ...string[]])[] = [
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
];

it.each(COMMANDS)(
  '%s %s ends without a word when nobody reads its output',
  async (command, ...words) => {
    expect(await runUnread(command, words)).toEqual({ code: 141, stderr: '' });
  },
);

it.each(COMMANDS)(
  '%s %s says in one line that its output cannot be written',
  async (command, ...words) => {
    const stderr = 'cannot write the output: the disk is full (ENOSPC)\n';
    expect(await runFull(command, words)).toEqual({ code: 1, stderr });
  },
);

describe('decisions on the standard output', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'decisions-'));
    const line = '10.0.0.1 - - [28/Nov/2026:06:00:00 +0000] "GET / HTTP/1.1" 200 1 "-" "-"\n';
    // Several times what a pipe takes.
    writeFileSync(join(folder, 'log'), line.repeat(4_000));
  });
  afterAll(() => {
    rmSync(folder, { recursive: true });
  });
  const words = () => [
    ...['-config_dir', 'examples/config', '-format', 'combined'],
    ...['-map', 'examples/simulate/nginx.map.yaml', '-input', join(folder, 'log')],
    ...['-decisions', '/dev/stdout'],
  ];

  it('end as silently as a report whose reader has gone', () => {
    // A pipe of a shell: what Node makes is a socket, which has no /dev/stdout.
    const script = '"$@" | head -1 >&2; echo ${PIPESTATUS[0]}';
    const command = [process.execPath, join(BIN, 'ratelimit-simulate.js'), ...words()];
    const { stdout, stderr } = spawnSync('bash', ['-c', script, 'bash', ...command], {
      encoding: 'utf8',
    });
    expect(stdout).toBe('141\n');
    expect(stderr).toMatch(/^\{.*\}\n$/);
  });

  it('are one line where they cannot be written', async () => {
    expect(await runFull('ratelimit-simulate', words())).toEqual({
      code: 1,
      stderr: '-decisions /dev/stdout: cannot write the file: the disk is full (ENOSPC)\n',
    });
  });
});
