import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '../../..');

it('the page of faults is up to date (npm run docs)', () => {
  const script = join(ROOT, 'scripts/write-faults-page.mjs');
  const page = execFileSync(process.execPath, [script, '--print'], { encoding: 'utf8' });
  expect(readFileSync(join(ROOT, 'docs/faults.md'), 'utf8')).toBe(page);
});
