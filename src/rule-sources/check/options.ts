import type { RuleSource } from '../load-result';

/** What the command line of `ratelimit-config-check` asks for. */
export type CheckOptions =
  | {
      readonly kind: 'check';
      readonly source: RuleSource;
      readonly mergeDomains: boolean;
      /** Warnings are mistakes too. */
      readonly strict: boolean;
      /** The file of SECRET_KEYS_FILE; undefined: ids of keys are not checked. */
      readonly keyFile: string | undefined;
    }
  | { readonly kind: 'help' }
  | { readonly kind: 'mistake'; readonly message: string };

export const USAGE = `usage: ratelimit-config-check [-merge_domain_configs] [-strict] [-key_file FILE] -config_dir DIR | FILE | -

Reads rules as the service does and prints every mistake in them.

  -config_dir DIR         all *.yaml and *.yml files of DIR and below it, as one set
  FILE                    one file
  -                       one file from the standard input
  -merge_domain_configs   several files may have the same domain (MERGE_DOMAIN_CONFIG=true)
  -strict                 warnings are mistakes too
  -key_file FILE          also check that value_hash names keys of this file (SECRET_KEYS_FILE)
  -help                   print this

Flags may be written with one dash or two. Exit status: 0 when the service would take the
rules (without -strict also with warnings), else 1.`;

const TRUES = ['1', 't', 'T', 'TRUE', 'true', 'True'];
const FALSES = ['0', 'f', 'F', 'FALSE', 'false', 'False'];

interface Draft {
  readonly sources: RuleSource[];
  readonly switches: Record<string, string>;
  keyFile?: string;
}

const HELP = new Set(['-h', '--h', '-help', '--help']);

/** Reads flags as Go's `flag` package writes them: `-name value`, `-name=value`, `-switch`. */
export function parseCheckOptions(args: readonly string[]): CheckOptions {
  const rest = [...args];
  const draft: Draft = {
    sources: [],
    switches: { merge_domain_configs: 'false', strict: 'false' },
  };
  for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
    if (HELP.has(arg)) return { kind: 'help' };
    const problem = readArgument(arg, rest, draft);
    if (problem !== undefined) return mistake(problem);
  }
  return toOptions(draft);
}

const VALUED = new Set(['config_dir', 'key_file']);

/** Takes one argument, and its value from the rest; the text is what is wrong with it. */
function readArgument(arg: string, rest: string[], draft: Draft): string | undefined {
  const { sources, switches } = draft;
  const [, name = '', value] = /^--?([a-z_]+)(?:=(.*))?$/s.exec(arg) ?? [];
  if (VALUED.has(name)) takeValue(name, value ?? rest.shift() ?? '', draft);
  else if (Object.hasOwn(switches, name)) switches[name] = value ?? 'true';
  else if (arg === '-') sources.push({ kind: 'standard-input' });
  else if (!arg.startsWith('-')) sources.push({ kind: 'file', path: arg });
  else return `unknown argument ${JSON.stringify(arg)}`;
  return undefined;
}

function takeValue(name: string, value: string, draft: Draft): void {
  if (name === 'key_file') draft.keyFile = value;
  else draft.sources.push({ kind: 'directory', path: value });
}

function toOptions({ sources, switches, keyFile }: Draft): CheckOptions {
  const [source, another] = sources;
  if (source === undefined || another !== undefined) {
    return mistake('expected one of -config_dir DIR, FILE or -');
  }
  if (source.kind === 'directory' && source.path === '') {
    return mistake('-config_dir needs a directory');
  }
  if (keyFile === '') return mistake('-key_file needs a file');
  for (const [name, value] of Object.entries(switches)) {
    if (TRUES.includes(value) || FALSES.includes(value)) continue;
    return mistake(`-${name} is either true or false, not ${JSON.stringify(value)}`);
  }
  const isOn = (name: string) => TRUES.includes(switches[name] ?? '');
  const mergeDomains = isOn('merge_domain_configs');
  return { kind: 'check', source, mergeDomains, strict: isOn('strict'), keyFile };
}

function mistake(message: string): CheckOptions {
  return { kind: 'mistake', message };
}
