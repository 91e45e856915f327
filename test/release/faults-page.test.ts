import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '../..');

/** Here because the names of its tests come with those that need Envoy. */
it('docs/internals/faults.md is what its script writes today (npm run docs)', () => {
  const page = readFileSync(join(ROOT, 'docs/internals/faults.md'), 'utf8');
  const words = ['scripts/write-faults-page.mjs', '--print'];
  const options = { cwd: ROOT, encoding: 'utf8', stdio: 'pipe' } as const;
  expect(page).toBe(execFileSync(process.execPath, words, options));
});
