import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const SUPPORT = join(__dirname, '../../support');

describe('what outlives a thousand large requests', () => {
  it('keeps no request alive', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [
      '--expose-gc',
      '--require',
      join(SUPPORT, 'typescript-hook.cjs'),
      join(SUPPORT, 'measure-kept.ts'),
    ]);
    const kept = JSON.parse(stdout) as Record<string, number>;
    expect(Object.keys(kept)).toEqual(['spans', 'hotKeys', 'series', 'names']);
    for (const bytes of Object.values(kept)) expect(bytes).toBeLessThan(12_000_000);
  });
});
