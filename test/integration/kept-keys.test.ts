import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const SCRIPT = join(__dirname, '../support/hold-keys.cjs');

/** Bytes of heap that each of so many keys keeps, whose values are cut from requests of 100 kB. */
async function bytesPerKey(what: string, keys: number, length: number): Promise<number> {
  const flags = ['--expose-gc', '--max-old-space-size=512'];
  const args = [...flags, SCRIPT, what, String(keys), String(length)];
  const { stdout } = await run(process.execPath, args);
  return Number(stdout);
}

describe.each(['memory', 'over-limit cache', 'recent keys'])('%s', (what) => {
  it.each([
    ['values of 60 kB', 60_000],
    ['values of 40 characters', 40],
  ])(
    'keeps 2,040 %s in some hundred bytes each, and nothing of their requests',
    async (_, length) => {
      const bytes = await bytesPerKey(what, 2_040, length);
      expect(bytes).toBeGreaterThan(40);
      expect(bytes).toBeLessThan(500);
    },
  );
});
