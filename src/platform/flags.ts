import { parseArgs } from 'node:util';

export interface Flag {
  /** The placeholder of its value in the help; undefined for a flag without a value. */
  readonly value?: string;
  /** Undefined: it has no row of its own in the help. */
  readonly about?: string;
  readonly default?: string;
  /** Other names, not shown in the help. */
  readonly aliases?: readonly string[];
  /** Whether all of its values count, instead of only the last. */
  readonly repeats?: boolean;
}

/** The flags of a command by name, in the order of its help. */
export type Flags = Readonly<Record<string, Flag>>;

/** The values of each flag, in order; `true` for a flag without a value. */
export type FlagValues = ReadonlyMap<string, readonly string[]>;

/** One flag of a command line with its value; or a word, which has no name. */
export interface Argument {
  readonly written: string;
  readonly name?: string;
  /** Undefined: the command has no such flag. */
  readonly flag?: Flag | undefined;
  readonly value?: string | undefined;
}

/** Reads `-flag value`, `-flag=value`, and both with two dashes, as Go's `flag` package does. */
export function readArguments(args: readonly string[], flags: Flags): Argument[] {
  const names = namesOf(flags);
  const { tokens } = parseArgs({
    // After one dash Node reads single letters.
    args: args.map((arg) => arg.replace(/^-(?=[^-=])/, '--')),
    options: toOptions(flags),
    strict: false,
    tokens: true,
  });
  return tokens.map((token) => {
    const written = args[token.index] ?? '';
    if (token.kind !== 'option' || /^[-=]|^$/.test(token.name)) return { written };
    const value = token.inlineValue === false ? args[token.index + 1] : token.value;
    const [name, flag] = names.get(token.name) ?? [token.name];
    return { written, name, flag, value };
  });
}

/** The values of parsed flags; an empty one where it is missing. */
export function toValues(read: readonly Argument[]): FlagValues {
  const values = new Map<string, string[]>();
  for (const { name = '', flag, value } of read) {
    if (flag === undefined) continue;
    const given = value ?? (flag.value === undefined ? 'true' : '');
    values.set(name, [...(values.get(name) ?? []), given]);
  }
  return values;
}

/** Reads flags with two dashes. Throws Node's error at the first unknown one or invalid value. */
export function readStrictly(args: readonly string[], flags: Flags, allowPositionals: boolean) {
  const config = { args: [...args], options: toOptions(flags), allowPositionals };
  const { values, positionals } = parseArgs(config);
  const lists = Object.entries(values).map(
    ([name, list = []]) => [name, list.map(String)] as const,
  );
  return { values: new Map(lists), positionals };
}

function namesOf(flags: Flags): ReadonlyMap<string, readonly [string, Flag]> {
  const all = Object.entries(flags).flatMap(([name, flag]) =>
    [name, ...(flag.aliases ?? [])].map((written) => [written, [name, flag]] as const),
  );
  return new Map(all);
}

function toOptions(flags: Flags) {
  const options = Array.from(namesOf(flags), ([written, [, { value }]]) => {
    const type = value === undefined ? ('boolean' as const) : ('string' as const);
    return [written, { type, multiple: true }] as const;
  });
  return Object.fromEntries(options);
}

/** The rows of a help; the description of a flag begins `width` columns after its dash. */
export function helpRows(flags: Flags, width: number): string {
  const rows = Object.entries(flags).map(([name, flag]) => {
    if (flag.about === undefined) return '';
    const written = `-${name}${flag.value === undefined ? '' : ` ${flag.value}`}`;
    const about = flag.about.replaceAll('\n', `\n${' '.repeat(width + 2)}`);
    const fallback = flag.default === undefined ? '' : ` (default ${flag.default})`;
    return `  ${written.padEnd(width)}${about}${fallback}\n`;
  });
  return rows.join('');
}

/**
 * A line of bash that completes a command: its flags and the words of its subcommands, taken from the beginnings of the indented
 * lines of its help.
 */
export function completionOf(command: string, help: string): string {
  const words = new Set(help.match(/(?<=^ {2}(?:.*[ [])?)--?[a-z][a-z0-9_-]*/gm));
  for (const [, line = ''] of help.matchAll(new RegExp(`^ {2}${command} ([a-z -]+)`, 'gm')))
    for (const word of line.trim().split(' ')) words.add(word);
  return `complete -o default -W '${[...words].join(' ')}' ${command}\n`;
}

const MAX_NAMED = 20;

/** `-config`, `--redis-url=redis://…`: the name of a flag. */
const FLAG = /^(--?[A-Za-z][A-Za-z_.-]{0,40})(?:=|$)/;

/** A path or a word that is typed as a command: not a secret. */
const PLAIN = /^[a-z/.-]{1,40}$/;

/**
 * Names arguments without anything that may be a secret: flags without their values, words before any flag, and the positions of
 * all others, such as separate values.
 */
export function nameArguments(words: readonly string[]): string {
  const named: string[] = [];
  let isAfterFlag = false;
  for (const [index, word] of words.entries()) {
    const flag = FLAG.exec(word)?.[1];
    isAfterFlag ||= flag !== undefined || word.startsWith('-');
    if (flag !== undefined) named.push(flag);
    else if (!isAfterFlag && PLAIN.test(word)) named.push(word);
    else named.push(`argument ${String(index + 1)} (not shown)`);
  }
  const more = named.length - MAX_NAMED;
  const shown = named.slice(0, MAX_NAMED).join(', ');
  return more > 0 ? `${shown} and ${String(more)} more` : shown;
}
