import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const SUPPORT = join(__dirname, '../support');

async function measured(script: string): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--expose-gc',
    '--require',
    join(SUPPORT, 'typescript-hook.cjs'),
    join(SUPPORT, script),
  ]);
  return stdout;
}

describe('what outlives 250 large requests', () => {
  it('keeps no request alive', async () => {
    const kept = JSON.parse(await measured('measure-kept.ts')) as Record<string, number>;
    expect(Object.keys(kept)).toEqual(['spans', 'hotKeys', 'series', 'names']);
    // One text of each request would be 50 MB.
    for (const bytes of Object.values(kept)) expect(bytes).toBeLessThan(6_000_000);
  });
});

describe('what a dump of all statistics holds while it is read', () => {
  it('holds references to its lines, not the lines', async () => {
    const held = JSON.parse(await measured('measure-dump.ts')) as Record<string, number>;
    expect(Object.keys(held)).toEqual(['text', 'json']);
    for (const bytesOfLine of Object.values(held)) expect(bytesOfLine).toBeLessThan(60);
  });
});
