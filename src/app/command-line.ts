/** What the command line of `ratelimit` asks for. */
export type Command =
  | { readonly kind: 'serve' | 'help' | 'version' }
  | { readonly kind: 'mistake'; readonly message: string };

export const USAGE = `usage: ratelimit [--help | --version]

Serves rate limit decisions until a signal stops it. Settings are environment variables.

  --help, -h       print all settings
  --version, -v    print the version`;

const WORDS: Readonly<Record<string, Command>> = {
  help: { kind: 'help' },
  h: { kind: 'help' },
  version: { kind: 'version' },
  v: { kind: 'version' },
};

/** Reads flags with one dash or two; the first decides. */
export function parseCommandLine(words: readonly string[]): Command {
  const [word] = words;
  if (word === undefined) return { kind: 'serve' };
  const [, name = ''] = /^--?([a-z]+)$/.exec(word) ?? [];
  const message = `unknown argument ${JSON.stringify(word)}`;
  return Object.hasOwn(WORDS, name) ? (WORDS[name] as Command) : { kind: 'mistake', message };
}
