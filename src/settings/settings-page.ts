import type { Setting, Table } from '../platform/env-table/setting';
import { defaultText, docText, HOW_TO_WRITE } from './settings-text';
import { SUBJECTS } from './tables';

type Row = readonly [string, string, string];

const HEADER: Row = ['Setting', 'Default', 'Meaning'];

function escape(text: string): string {
  return text.replace(/[|<>*]/g, '\\$&');
}

function toRow(entry: Setting<unknown>): Row {
  const [name = '', ...aliases] = [entry.name, ...(entry.aliases ?? [])].map(
    (text) => `\`${text}\``,
  );
  const names = aliases.length === 0 ? name : `${name} (${aliases.join(', ')})`;
  const isLiteral = entry.default !== undefined && entry.default !== '';
  const shown = defaultText(entry);
  return [names, isLiteral ? `\`${shown}\`` : escape(shown), escape(docText(entry))];
}

/** Columns are padded as the project's formatter wants them. */
function toMarkdownTable(table: Table): string {
  const rows = [HEADER, ...Object.values(table).map(toRow)];
  const widths = HEADER.map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  );
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  const rule = line(widths.map((width) => '-'.repeat(width)));
  const [header = HEADER, ...body] = rows;
  return [line(header), rule, ...body.map(line)].join('\n');
}

/** The text of `docs/settings.md`. */
export function settingsPage(): string {
  const subjects = SUBJECTS.map(({ title, table }) => `## ${title}\n\n${toMarkdownTable(table)}`);
  const intro = [
    '# Settings',
    'This page is written by `node scripts/write-settings-page.mjs` from the tables in `src/settings`.',
    ...HOW_TO_WRITE,
  ];
  return `${[...intro, ...subjects].join('\n\n')}\n`;
}
