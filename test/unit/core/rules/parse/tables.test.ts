import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { parse } from 'yaml';
import type { RuleDefinition } from '../../../../../src/core/rules/definition';
import { parseRuleFiles } from '../../../../../src/core/rules/parse/parse-rule-files';
import { readRuleFile } from '../../../../../src/rule-sources/yaml/read-rule-file';
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

const LIMIT = { unlimited: false, name: '', replaces: [] };
const RULE = {
  parent: -1,
  key: 'k',
  shadowMode: false,
  quotaMode: false,
  detailedMetric: false,
  valueToMetric: false,
  shareThreshold: false,
};

const beyond = (said: object, plain: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(
    Object.entries(said).filter(([name, value]) => !isDeepStrictEqual(value, plain[name])),
  );

/** What a rule says beyond one that says nothing. With a budget, its limit is the first of it. */
function said({ limit, budget, ...rest }: RuleDefinition): object {
  const rule = beyond({ ...rest, place: undefined }, RULE);
  if (budget === undefined) return { ...rule, ...(limit && { limit: beyond(limit, LIMIT) }) };
  expect(limit).toBe(budget.limits[0]);
  const limits = budget.limits.map((one) => beyond(one, LIMIT));
  return { ...rule, budget: { ...beyond(budget, {}), limits } };
}

const isRule = (line: string) => line.startsWith('=');

it.each(tableOf('rules.txt'))('what $title says', (row) => {
  const { domains, problems } = read(row);
  const lines = domains.flatMap(({ domain, isChargedTogether, rules }) => [
    ...(domain === 'x' ? [] : [`domain ${domain}`]),
    ...(isChargedTogether === true ? ['charged together'] : []),
    ...rules.map(said),
  ]);
  const expected = row.expected.map((line) =>
    isRule(line) ? (parse(`{${line.slice(1)}}`) as object) : line,
  );
  expect(orOk([...problems, ...lines])).toEqual(expected);
});
