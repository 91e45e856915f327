// Writes docs/settings.md from the tables in src/settings; with --print to standard output.
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { format } from 'prettier';

const require = createRequire(import.meta.url);
require('../test/support/typescript-hook.cjs');
const {
  defaultText,
  docText,
  HOW_TO_WRITE,
  valuesText,
} = require('../src/settings/settings-help.ts');
const { SUBJECTS } = require('../src/settings/tables.ts');

const escape = (text) => text.replace(/[|<>*]/g, '\\$&');
const code = (text) => `\`${text}\``;

/** Texts to type as they are in the font of code, all else in words. */
function toValues(entry) {
  const text = valuesText(entry);
  if (!entry.parser.expected.startsWith('one of ')) return escape(text);
  return text.split(', ').map(code).join(', ');
}

function toRow(entry) {
  const aliases = entry.aliases.map(code);
  const names = code(entry.name) + (aliases.length === 0 ? '' : ` (${aliases.join(', ')})`);
  const isLiteral = entry.default !== undefined && entry.default !== '';
  const fallback = (isLiteral ? code : escape)(defaultText(entry));
  return `| ${names} | ${fallback} | ${toValues(entry)} | ${escape(docText(entry))} |`;
}

const toSection = ({ title, settings }) =>
  [
    `## ${title}\n`,
    '| Setting | Default | Values | Meaning |',
    '|-|-|-|-|',
    ...settings.map(toRow),
  ].join('\n');

const page = [
  '# Settings',
  'This page is written by `node scripts/write-settings-page.mjs` from the tables in `src/settings`.',
  ...HOW_TO_WRITE,
  ...SUBJECTS.map(toSection),
].join('\n\n');
const text = await format(page, { parser: 'markdown' });

if (process.argv.includes('--print')) process.stdout.write(text);
else writeFileSync(new URL('../docs/settings.md', import.meta.url), text);
