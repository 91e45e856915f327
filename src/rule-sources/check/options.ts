import { BACKENDS, type StoreAbilities } from '../../core/rules/parse/store-abilities';
import type { RuleSource } from '../load-result';

/** What the command line of `ratelimit-config-check` asks for. */
export type CheckOptions =
  | {
      readonly kind: 'check';
      readonly source: RuleSource;
      readonly mergeDomains: boolean;
      /** Warnings are mistakes too. */
      readonly strict: boolean;
      /** The store that has to count by the rules; undefined: any. */
      readonly abilities?: StoreAbilities | undefined;
    }
  | { readonly kind: 'help' }
  | { readonly kind: 'mistake'; readonly message: string };

export const USAGE = `usage: ratelimit-config-check [-merge_domain_configs] [-strict] [-backend NAME]
                              -config_dir DIR | FILE | -

Reads rules as the service does and prints every mistake in them.

  -config_dir DIR         all *.yaml and *.yml files of DIR and below it, as one set
  FILE                    one file
  -                       one file from the standard input
  -merge_domain_configs   several files may have the same domain (MERGE_DOMAIN_CONFIG=true)
  -strict                 warnings are mistakes too
  -backend NAME           kvstore, memstore or memory: rules that this store cannot count
                          by are mistakes
  -help                   print this

Flags may be written with one dash or two. Exit status: 0 when the service would take the
rules (without -strict also with warnings), else 1.`;

const TRUES = ['1', 't', 'T', 'TRUE', 'true', 'True'];
const FALSES = ['0', 'f', 'F', 'FALSE', 'false', 'False'];

interface Draft {
  readonly sources: RuleSource[];
  /** As written, each. */
  readonly backends: string[];
  readonly switches: Record<string, string>;
}

const HELP = new Set(['-h', '--h', '-help', '--help']);

/** Reads flags as Go's `flag` package writes them: `-name value`, `-name=value`, `-switch`. */
export function parseCheckOptions(args: readonly string[]): CheckOptions {
  const rest = [...args];
  const draft: Draft = {
    sources: [],
    backends: [],
    switches: { merge_domain_configs: 'false', strict: 'false' },
  };
  for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
    if (HELP.has(arg)) return { kind: 'help' };
    const problem = readArgument(arg, rest, draft);
    if (problem !== undefined) return mistake(problem);
  }
  return toOptions(draft);
}

/** Takes one argument, and its value from the rest; the text is what is wrong with it. */
function readArgument(
  arg: string,
  rest: string[],
  { sources, backends, switches }: Draft,
): string | undefined {
  const [, name = '', value] = /^--?([a-z_]+)(?:=(.*))?$/s.exec(arg) ?? [];
  const take = (): string => value ?? rest.shift() ?? '';
  if (name === 'config_dir') {
    sources.push({ kind: 'directory', path: take() });
  } else if (name === 'backend') backends.push(take());
  else if (Object.hasOwn(switches, name)) switches[name] = value ?? 'true';
  else {
    const source = sourceOf(arg);
    if (source === undefined) return `unknown argument ${JSON.stringify(arg)}`;
    sources.push(source);
  }
  return undefined;
}

function toOptions({ sources, backends, switches }: Draft): CheckOptions {
  const [source, another] = sources;
  if (source === undefined || another !== undefined) {
    return mistake('expected one of -config_dir DIR, FILE or -');
  }
  if (source.kind === 'directory' && source.path === '') {
    return mistake('-config_dir needs a directory');
  }
  for (const [name, value] of Object.entries(switches)) {
    if (TRUES.includes(value) || FALSES.includes(value)) continue;
    return mistake(`-${name} is either true or false, not ${JSON.stringify(value)}`);
  }
  const abilities = readBackend(backends);
  if (typeof abilities === 'string') return mistake(abilities);
  const isOn = (name: string) => TRUES.includes(switches[name] ?? '');
  const mergeDomains = isOn('merge_domain_configs');
  return { kind: 'check', source, mergeDomains, strict: isOn('strict'), abilities };
}

function mistake(message: string): CheckOptions {
  return { kind: 'mistake', message };
}

/** What is no flag. */
function sourceOf(arg: string): RuleSource | undefined {
  if (arg === '-') return { kind: 'standard-input' };
  return arg.startsWith('-') ? undefined : { kind: 'file', path: arg };
}

/** What the store can; undefined when none is named. The text is what is wrong with it. */
function readBackend(names: readonly string[]): StoreAbilities | string | undefined {
  const [name, another] = names;
  if (name === undefined) return undefined;
  const kind = BACKENDS.find((one) => one === name);
  if (kind !== undefined && another === undefined) return { kind, scripts: true };
  const found = names.map((one) => JSON.stringify(one)).join(', ');
  return `-backend is one of ${BACKENDS.join(', ')}, not ${found}`;
}
