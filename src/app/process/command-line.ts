/** What the command line of `ratelimit` asks for. */
export type Command =
  | { readonly kind: 'serve' | 'help' | 'version' | 'completion' }
  | { readonly kind: 'mistake'; readonly message: string };

export const USAGE = `usage: ratelimit [--help | --version | --completion bash]

Serves rate limit decisions until a signal stops it. Settings are environment variables.

  --help, -h       print all settings
  --version, -v    print the version
  --completion     print completion for a shell: source <(ratelimit --completion bash)`;

/** Compositions written for an image without an entry point name the program as its own first argument. */
const OWN_PATH = '/bin/ratelimit';

const WORDS: Readonly<Record<string, Command>> = {
  help: { kind: 'help' },
  h: { kind: 'help' },
  version: { kind: 'version' },
  v: { kind: 'version' },
};

/** Reads flags with one dash or two; the first decides. */
export function parseCommandLine(words: readonly string[]): Command {
  const [word, value = ''] = words;
  if (word === undefined || word === OWN_PATH) return { kind: 'serve' };
  const [, name = ''] = /^--?([a-z]+)$/.exec(word) ?? [];
  if (name === 'completion') return parseShell(value);
  const message = `unknown argument ${JSON.stringify(word)}`;
  return Object.hasOwn(WORDS, name) ? (WORDS[name] as Command) : { kind: 'mistake', message };
}

function parseShell(shell: string): Command {
  if (shell === 'bash') return { kind: 'completion' };
  return { kind: 'mistake', message: `--completion is ${JSON.stringify(shell)}, expected bash` };
}
