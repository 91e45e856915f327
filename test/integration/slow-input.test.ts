import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const CHECK = join(__dirname, '../../dist/src/bin/ratelimit-config-check.js');
const RULES =
  'domain: x\ndescriptors: [{ key: k, rate_limit: { unit: day, requests_per_unit: 1 } }]\n';
const SETTINGS = 'REDIS_URL=127.0.0.1:6379\n';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-slow-input-'));
});
afterEach(() => rm(folder, { recursive: true }));

/** As `<(kubectl get …)`: there is nothing to read before the command has opened it. */
it.each([
  ['rules', [], RULES, '1 domain, 1 limit: OK'],
  ['a deployment', ['-deployment'], SETTINGS, 'more differences, which no deployment shows'],
])('ratelimit-config-check waits for %s in a pipe', async (_, words, text, expected) => {
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const child = spawn(process.execPath, [CHECK, ...words, pipe]);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const closed = once(child, 'close');
  // It opens when somebody reads.
  const writer = await open(pipe, 'w');
  await writer.writeFile(text.slice(0, 5));
  await writer.writeFile(text.slice(5));
  await writer.close();
  expect([(await closed)[0], output]).toEqual([0, expect.stringContaining(expected) as string]);
});
