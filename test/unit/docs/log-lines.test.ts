import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '../../..');
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

/** All messages, on one line each: a template that the formatter broke reads as it is logged. */
const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => read(join('src', file)))
  .join('\n');

/** The quoted log lines of the tables whose first column has this heading; and the quotes in prose. */
function quotesOf(page: string, heading: RegExp): readonly string[] {
  const rows = page
    .split('\n\n')
    .filter((table) => heading.test(table))
    .flatMap((table) => table.split('\n').slice(2));
  return rows.flatMap((row) => [...row.matchAll(/`([^`]+)`/g)].map(([, line = '']) => line));
}

/** `cannot reach the store at …` has its words in a message; what stands for `…` is not compared. */
const isLogged = (line: string): boolean =>
  line
    .split('…')
    .map((part) => part.trim())
    .every((part) => part === '' || sources.includes(part));

/** Sentences: names of settings and addresses in the other columns are no lines of the log. */
const SENTENCE = /[a-z]+ [a-z]+ [a-z]+/;

it.each([
  ['docs/runbook.md', /^\| Line /],
  ['docs/logging.md', /^\| Outage /],
])('%s quotes lines that the service logs', (page, heading) => {
  const lines = quotesOf(read(page), heading).filter((line) => SENTENCE.test(line));
  expect(lines.length).toBeGreaterThan(5);
  expect(lines.filter((line) => !isLogged(line))).toEqual([]);
});

/** Commands, and what memcached answers. */
const OF_OTHERS = /^(?:redis-cli|kubectl|curl|npx|out of memory)\b/;

/** What an operator is to look for in the log, elsewhere in the runbook. */
it('the alerts of the runbook quote lines that the service logs', () => {
  const items = read('docs/runbook.md').match(/^- .*$/gm) ?? [];
  const lines = items
    .flatMap((item) => [...item.matchAll(/`([^`]+)`/g)].map(([, line = '']) => line))
    .filter((line) => SENTENCE.test(line) && !OF_OTHERS.test(line));
  expect(lines.length).toBeGreaterThan(3);
  expect(lines.filter((line) => !isLogged(line))).toEqual([]);
});
