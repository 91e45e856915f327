import { spawn } from 'node:child_process';
import { createWriteStream, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expectFigure } from '../support/edge/figure';

const SIMULATE = join(__dirname, '../../dist/src/bin/ratelimit-simulate.js');
const LINES = 1_000_000;
const LINES_AT_ONCE = 10_000;

let folder = '';
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'weir-simulate-'));
  mkdirSync(join(folder, 'rules'));
  const rule = 'key: user\n    rate_limit: { unit: minute, requests_per_unit: 3 }';
  writeFileSync(join(folder, 'rules', 'shop.yaml'), `domain: shop\ndescriptors:\n  - ${rule}\n`);
  await writeLog(join(folder, 'log.jsonl'));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

/** Ten minutes of 1,667 requests a second, of 50,000 users. */
async function writeLog(path: string): Promise<void> {
  const file = createWriteStream(path);
  const startMs = Date.parse('2026-11-22T14:00:00Z');
  for (let first = 0; first < LINES; first += LINES_AT_ONCE) {
    let text = '';
    for (let at = first; at < first + LINES_AT_ONCE; at++) {
      const time = new Date(startMs + Math.floor(at * 0.6)).toISOString();
      const user = `user-${String((at * 7_919) % 50_000)}`;
      text += `{"time":"${time}","domain":"shop","descriptors":[[["user","${user}"]]]}\n`;
    }
    if (!file.write(text)) await once(file, 'drain');
  }
  file.end();
  await once(file, 'finish');
}

/** Prints the most memory that the process took, in KiB, after the report. `maxRSS` would count its parent's too: this one's. */
const WITH_MEMORY =
  "process.on('exit',()=>console.log(require('fs').readFileSync('/proc/self/status','latin1')));require(process.argv[1])";

it('decides a log of 1,000,000 lines within 10 s and 200 MB', async () => {
  const args = ['-config_dir', join(folder, 'rules'), '-input', join(folder, 'log.jsonl')];
  const startedMs = performance.now();
  const child = spawn(process.execPath, ['-e', WITH_MEMORY, '--', SIMULATE, ...args]);
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  await once(child, 'close');
  const seconds = (performance.now() - startedMs) / 1_000;
  expect(output).toContain('1,000,000 requests, ');
  const megabytes = Number(/VmHWM:\s+(\d+)/.exec(output)?.[1]) / 1_024;
  expectFigure({ name: 'a million lines', value: seconds, unit: 's', below: 10 });
  expectFigure({ name: 'memory of a million lines', value: megabytes, unit: 'MB', below: 200 });
}, 120_000);
