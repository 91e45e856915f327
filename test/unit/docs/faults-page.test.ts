import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '../../..');

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
  const played = new Set(cellsOf(read('internals/faults'), 1).match(/[A-Z]+/g));
  expect([...commands].filter((command) => !played.has(command))).toEqual([]);
});
