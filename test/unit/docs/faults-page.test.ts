import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '../../..');

it('the page of faults is up to date (npm run docs)', () => {
  const script = join(ROOT, 'scripts/write-faults-page.mjs');
  const page = execFileSync(process.execPath, [script, '--print'], { encoding: 'utf8' });
  expect(readFileSync(join(ROOT, 'docs/faults.md'), 'utf8')).toBe(page);
});

/** What stands in one column of the tables. */
const cellsOf = (page: string, at: number): string =>
  page
    .split('\n')
    .map((line) => (line.startsWith('| ') ? line.split('|')[at] : ''))
    .join(' ');

it('every command that an access list of Redis has to allow is played', () => {
  const read = (page: string) => readFileSync(join(ROOT, `docs/${page}.md`), 'utf8');
  const [, section = ''] =
    /### Commands and access lists\n([^]*?)\n### /.exec(read('stores')) ?? [];
  const commands = new Set(cellsOf(section, 2).match(/(?<=`)[A-Z]+(?=`)/g));
  expect(commands.size).toBeGreaterThan(20);
  const played = new Set(cellsOf(read('faults'), 1).match(/[A-Z]+/g));
  expect([...commands].filter((command) => !played.has(command))).toEqual([]);
});
