import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '../..');
const run = (...args: readonly string[]) =>
  execFileSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8', stdio: 'pipe' });

it('docs/settings.md is what its script writes today (npm run docs)', () => {
  const page = readFileSync(join(ROOT, 'docs/settings.md'), 'utf8');
  expect(page).toBe(run('scripts/write-settings-page.mjs', '--print'));
});

it.each([
  ['NOTICE', 'scripts/write-notice.mjs'],
  ['what reflection answers', 'proto/generate-descriptors.cjs'],
])('%s is what %s makes of the sources of today', (_, script) => {
  run(script, '--check');
});
