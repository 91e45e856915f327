import type { Environment } from '../../platform/env-table/table';
import { deploysBySettings } from '../../settings/tables';
import { nameArguments } from '../../platform/flags';

/** The meaning of `ratelimit`'s command line. */
export type Command =
  | { readonly kind: 'help' | 'version' | 'completion' }
  | {
      readonly kind: 'serve';
      /** A warning for the log about arguments without effect. */
      readonly warning?: string;
    }
  | { readonly kind: 'mistake'; readonly message: string };

export const USAGE = `usage: ratelimit [--help | --version | --completion bash]

Serves rate limit decisions until a signal stops it. Settings are environment variables.

  --help, -h       print all settings
  --version, -v    print the version
  --completion     print completion for a shell: source <(ratelimit --completion bash)

Other arguments are a mistake, or a warning where the environment says where rules or counters are.`;

/** Compositions written for an image without an entry point name the program as its own first argument. */
const OWN_PATH = '/bin/ratelimit';

const WORDS: Readonly<Record<string, Command>> = {
  help: { kind: 'help' },
  h: { kind: 'help' },
  version: { kind: 'version' },
  v: { kind: 'version' },
};

/**
 * Reads flags with one dash or two; the first decides. Unknown ones are ignored where the environment is that of a deployment: the
 * reference ignores all arguments.
 */
export function parseCommandLine(words: readonly string[], env: Environment): Command {
  const [word, value = ''] = words;
  if (word === undefined) return { kind: 'serve' };
  if (word === OWN_PATH) return serveBeside(words.slice(1));
  const [, name = ''] = /^--?([a-z]+)$/.exec(word) ?? [];
  if (Object.hasOwn(WORDS, name)) return WORDS[name] as Command;
  if (name === 'completion') return parseShell(value);
  if (deploysBySettings(env)) return serveBeside(words);
  return { kind: 'mistake', message: `unknown argument ${JSON.stringify(word)}` };
}

function serveBeside(ignored: readonly string[]): Command {
  if (ignored.length === 0) return { kind: 'serve' };
  const warning = `arguments are ignored: ${nameArguments(ignored)}; settings come from the environment, and ratelimit --help lists them`;
  return { kind: 'serve', warning };
}

function parseShell(shell: string): Command {
  if (shell === 'bash') return { kind: 'completion' };
  return { kind: 'mistake', message: `--completion is ${JSON.stringify(shell)}, expected bash` };
}
