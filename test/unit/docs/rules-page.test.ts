import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { checkRules } from '../../../src/rule-sources/check/check-rules';
import { LEVELS, RULE_LEVELS } from '../../../src/core/rules/parse/table/levels';
import type { RuleFile } from '../../../src/rule-sources/load-result';

const PAGE = readFileSync('docs/rules.md', 'utf8');

interface Example {
  readonly args: readonly string[];
  /** What `cat` shows above the command; else the last example of a rule file above it. */
  readonly files: readonly RuleFile[];
  /** What the page prints below the command. */
  readonly output: string;
}

/** The pieces of a block that begin with `$ `, each a command and what it printed. */
function commandsOf(block: string): readonly (readonly [string, string])[] {
  return block
    .split(/^\$ /m)
    .slice(1)
    .map((piece) => [piece.slice(0, piece.indexOf('\n')), piece.slice(piece.indexOf('\n') + 1)]);
}

function domainOf(text: string): string {
  return /^domain: (\w+)$/m.exec(text)?.[1] ?? '';
}

function toExample(block: string, at: number): Example {
  const commands = commandsOf(block);
  const [command = '', output = ''] = commands.at(-1) ?? [];
  const shown = commands.slice(0, -1).map(([cat, text]) => [basename(cat), text] as const);
  const above = [...PAGE.slice(0, at).matchAll(/^```yaml\n([^]*?)^```$/gm)].at(-1)?.[1] ?? '';
  const files = shown.length > 0 ? shown : [[`${domainOf(above)}.yaml`, above] as const];
  return {
    args: command.split(' ').slice(2),
    files: files.map(([file, text]) => ({ file, bytes: Buffer.from(text) })),
    output,
  };
}

const examples = [...PAGE.matchAll(/^```\n(\$ [^]*?)^```$/gm)]
  .filter(([, block = '']) => block.includes('$ npx ratelimit-config-check '))
  .map(({ 1: block = '', index }) => toExample(block, index));

it('finds the examples of the page', () => {
  expect(examples).toHaveLength(5);
});

it.each(examples)('prints what the page shows: $output', async ({ args, files, output }) => {
  const { lines, errorLines } = await checkRules(args, () =>
    Promise.resolve({ files, problems: [] }),
  );
  expect(errorLines).toEqual([]);
  expect(`${lines.join('\n')}\n`).toBe(output);
});

const tables = [...PAGE.matchAll(/^<!-- fields: (\w+) -->\n\n((?:\|.*\n)+)/gm)].map(
  ([, level = '', table = '']) => ({
    level: LEVELS.find((one) => one === level) ?? 'file',
    rows: table
      .split('\n')
      .slice(2, -1)
      .map((row) => row.split('|').map((cell) => cell.trim())),
  }),
);

it('finds the tables of the page', () => {
  expect(tables.map(({ level }) => level)).toEqual(['file', 'descriptor', 'rate_limit', 'block']);
});

it.each(tables)('has the fields of $level as `npm run docs` writes them', ({ level, rows }) => {
  const expected = Object.entries(RULE_LEVELS[level].fields).map(
    ([name, { type, about, required }]) => [
      '',
      `\`${name}\``,
      type.words,
      required === undefined ? about : `required; ${about}`,
      '',
    ],
  );
  expect(rows).toEqual(expected);
});
