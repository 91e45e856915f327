import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseRuleFiles } from '../../../../../src/core/rules/parse/parse-rule-files';
import { readRuleFile } from '../../../../../src/rule-sources/yaml/read-rule-file';
import { readLines, toLines } from '../../../../support/rule-lines';
import { briefly } from '../../../../support/rule-texts';
import { readTable, type TableCase } from '../../../../support/text-table';

const tableOf = (name: string) => readTable(readFileSync(join(__dirname, name), 'utf8'));

/** `> NAME` begins a file; else there is one. */
function filesOf(given: string): readonly (readonly [name: string, text: string])[] {
  if (!given.startsWith('> ')) return [['rules.yaml', given]];
  return given
    .split(/^> /m)
    .slice(1)
    .map((file) => [file.replace(/\n.*$/s, ''), file.replace(/^.*\n?/, '')] as const);
}

function read({ given, options }: TableCase) {
  const sources = filesOf(given).map(([file, text]) => readRuleFile(file, text));
  const read = parseRuleFiles(sources, { mergeDomains: false, ...options });
  const problems = read.problems.map((problem) => {
    const file = problem.file === 'rules.yaml' ? '' : `${problem.file}:`;
    return `${file}${briefly(problem)}: ${problem.message}`;
  });
  return { ...read, problems };
}

const orOk = (lines: readonly unknown[]) => (lines.length === 0 ? ['ok'] : lines);

it.each(tableOf('mistakes.txt'))('what is wrong with $title', (row) => {
  const { problems } = read(row);
  expect(orOk(problems)).toEqual(row.expected);
});

it.each(tableOf('rules.txt'))('what $title says', (row) => {
  const { domains, problems } = read(row);
  expect(orOk([...problems, ...toLines(domains)])).toEqual(readLines(row.expected));
});
