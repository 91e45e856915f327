import type { Setting } from '../platform/env-table/table';
import { SUBJECTS } from './tables';

/** Introduction of the help and of the page. */
export const HOW_TO_WRITE = [
  'Settings are environment variables. A name in brackets is the name that existing deployments use: ' +
    'it means the same setting. The service does not start when both are set to different values.',
  'Booleans: true or false, also 1, t, T, TRUE, True, 0, f, F, FALSE, False. Durations: 150us, 10s, ' +
    '1h30m, 0 (ns, us, ms, s, m, h). Maps: k1:v1,k2:v2. Lists: items with commas between them. ' +
    'Whole numbers, and ports without a host: also 0x10, 0o17, 0b1, 1_000, and 010 is 8, as Go reads them.',
  'A variable that is set to an empty string counts as not set, so its default applies; only settings ' +
    'that say that they may be empty take it as it is.',
  'So does a link to a Kubernetes Service: one that is called grpc sets GRPC_PORT=tcp://10.0.0.1:8081 in ' +
    'every pod of its namespace. A warning at the start names it.',
  'The start fails with exit code 1 on a value that cannot be used. All mistakes are reported together, ' +
    'one line each, with the name, the value and what was expected. A secret value is never shown.',
] as const;

/** The default of a setting as the help shows it. */
export function defaultText(entry: Setting<unknown>): string {
  return entry.default === '' ? 'empty' : (entry.default ?? entry.whenUnset);
}

/** The line of doc, with further facts for operators. */
export function docText(entry: Setting<unknown>): string {
  if (entry.isDeprecated === true) return `deprecated: ${entry.doc}`;
  return entry.secret === true ? `${entry.doc}; secret` : entry.doc;
}

/** The possible values, without the introduction's remarks on every boolean and duration. */
export function valuesText({ parser }: Setting<unknown>): string {
  return parser.expected
    .replace(/^(?:one of|an?|the) /, '')
    .replace(/ \(also .*\)$/, '')
    .replace(/, such as .*$/, '')
    .replace(/,? without line breaks$/, '');
}

const WIDTH = 100;
/** The column of the values, after a name that is not too long. */
const VALUES_COLUMN = 52;

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

function namesAndValues(names: string, values: string): readonly string[] {
  const line = `${`  ${names}  `.padEnd(VALUES_COLUMN)}${values}`;
  return line.length <= WIDTH ? [line] : [wrap(names, '  '), wrap(values, '      ')];
}

function helpOf(entry: Setting<unknown>): string {
  const { name, aliases } = entry;
  const names = aliases.length === 0 ? name : `${name} (${aliases.join(', ')})`;
  const meaning = wrap(`${docText(entry)} [${defaultText(entry)}]`, '      ');
  return [...namesAndValues(names, valuesText(entry)), meaning].join('\n');
}

const GROUPS = {
  ratelimit: [
    ['most', 'WHAT MOST DEPLOYMENTS SET'],
    ['some', 'WHAT SOME DEPLOYMENTS SET'],
    ['few', 'WHAT FEW DEPLOYMENTS SET'],
  ],
  identity: [['identity', 'SETTINGS']],
} as const;

/** Every setting of a service with its names, values, default and meaning, the most needed first, for a terminal of 100 columns. */
export function settingsHelp(service: keyof typeof GROUPS): string {
  const intro = HOW_TO_WRITE.map((paragraph) => wrap(paragraph, ''));
  const groups = GROUPS[service].flatMap(([need, heading]) => [
    heading,
    ...SUBJECTS.filter((subject) => subject.need === need).map(({ title, settings }) =>
      [title, ...settings.map(helpOf)].join('\n'),
    ),
  ]);
  return `${[...intro, 'The values to type follow the names, the default is in square brackets.', ...groups].join('\n\n')}\n`;
}
