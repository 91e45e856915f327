import { parseArgs } from 'node:util';

/** One flag of a command line with the value that it was given; or a word, which has no name. */
export interface Argument {
  readonly written: string;
  readonly name?: string;
  readonly value?: string | undefined;
}

/** Reads `-flag value`, `-flag=value`, and both with two dashes, as Go's `flag` package does; `valued` take the next word. */
export function readArguments(args: readonly string[], valued: readonly string[]): Argument[] {
  const { tokens } = parseArgs({
    // Behind one dash Node reads single letters.
    args: args.map((arg) => arg.replace(/^-(?=[^-=])/, '--')),
    options: Object.fromEntries(valued.map((name) => [name, { type: 'string' }])),
    strict: false,
    tokens: true,
  });
  return tokens.map((token) => {
    const written = args[token.index] ?? '';
    if (token.kind !== 'option' || /^[-=]|^$/.test(token.name)) return { written };
    const value = token.inlineValue === false ? args[token.index + 1] : token.value;
    return { written, name: token.name, value };
  });
}
