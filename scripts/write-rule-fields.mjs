// Writes what comes from the table of rule fields: weir-rules.schema.json, and the tables of docs/rules.md. With --print that page
// goes to standard output, and nothing is written.
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { format } from 'prettier';

const require = createRequire(import.meta.url);
require('../test/support/typescript-hook.cjs');
const { RULE_SCHEMA } = require('../src/core/rules/parse/rule-schema.ts');
const { RULE_LEVELS } = require('../src/core/rules/parse/table/levels.ts');

const root = new URL('../', import.meta.url);
const PAGE = new URL('docs/rules.md', root);

function toRow([name, { type, about, required }]) {
  const meaning = required === undefined ? about : `required; ${about}`;
  return `| \`${name}\` | ${type.words} | ${meaning} |`;
}

const tableOf = (level) =>
  ['| Field | Type | |', '|-|-|-|', ...Object.entries(RULE_LEVELS[level].fields).map(toRow)].join(
    '\n',
  );

/** A table stands below a comment with the name of its level. */
const text = readFileSync(PAGE, 'utf8').replaceAll(
  /(<!-- fields: (\w+) -->\n\n)(?:\|.*\n)*/g,
  (_, head, level) => `${head}${tableOf(level)}\n`,
);
const { prettier } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'));
const page = await format(text, { ...prettier, parser: 'markdown' });

if (process.argv.includes('--print')) process.stdout.write(page);
else {
  writeFileSync(PAGE, page);
  const schema = await format(JSON.stringify(RULE_SCHEMA), { parser: 'json', printWidth: 100 });
  writeFileSync(new URL('weir-rules.schema.json', root), schema);
}
