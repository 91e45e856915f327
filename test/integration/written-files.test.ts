import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '../..');
const run = (...args: readonly string[]) =>
  execFileSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8', stdio: 'pipe' });

it.each([
  ['docs/faults.md', 'scripts/write-faults-page.mjs'],
  ['docs/settings.md', 'scripts/write-settings-page.mjs'],
])('%s is what %s writes today (npm run docs)', (page, script) => {
  expect(readFileSync(join(ROOT, page), 'utf8')).toBe(run(script, '--print'));
});

it.each([
  ['NOTICE', 'scripts/write-notice.mjs'],
  ['what reflection answers', 'proto/generate-descriptors.cjs'],
])('%s is what %s makes of the sources of today', (_, script) => {
  run(script, '--check');
});
