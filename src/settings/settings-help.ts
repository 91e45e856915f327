import type { Setting } from '../platform/env-table/setting';
import { defaultText, docText, HOW_TO_WRITE } from './settings-text';
import { SUBJECTS } from './tables';

const WIDTH = 100;

function wrap(text: string, indent: string): string {
  const lines: string[] = [];
  let line = indent;
  for (const word of text.split(' ')) {
    if (line !== indent && line.length + 1 + word.length > WIDTH) {
      lines.push(line);
      line = indent;
    }
    line += line === indent ? word : ` ${word}`;
  }
  return [...lines, line].join('\n');
}

function helpOf(entry: Setting<unknown>): string {
  const aliases = entry.aliases ?? [];
  const names = aliases.length === 0 ? entry.name : `${entry.name} (${aliases.join(', ')})`;
  return [wrap(names, '  '), wrap(`${docText(entry)} [${defaultText(entry)}]`, '      ')].join(
    '\n',
  );
}

const GROUPS = {
  ratelimit: [
    ['most', 'WHAT MOST DEPLOYMENTS SET'],
    ['some', 'WHAT SOME DEPLOYMENTS SET'],
    ['few', 'WHAT FEW DEPLOYMENTS SET'],
  ],
  identity: [['identity', 'SETTINGS']],
} as const;

/**
 * Every setting of a service with its names, default and meaning, the most needed first, for a terminal of 100
 * columns.
 */
export function settingsHelp(service: keyof typeof GROUPS): string {
  const intro = HOW_TO_WRITE.map((paragraph) => wrap(paragraph, ''));
  const groups = GROUPS[service].flatMap(([need, heading]) => [
    heading,
    ...SUBJECTS.filter((subject) => subject.need === need).map(({ title, table }) =>
      [title, ...Object.values(table).map(helpOf)].join('\n'),
    ),
  ]);
  return `${[...intro, 'The default stands in square brackets.', ...groups].join('\n\n')}\n`;
}
