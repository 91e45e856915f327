import type { Entry } from '../../core/model';
import { BACKENDS, type StoreAbilities } from '../../core/rules/parse/store-abilities';
import type { RuleInput } from '../load-result';
import type { ExplainQuestion } from './explain-rules';

/** What the command line of `ratelimit-config-check` asks for. */
export type CheckOptions =
  | {
      readonly kind: 'check';
      readonly source: RuleInput;
      readonly mergeDomains: boolean;
      /** Warnings are mistakes too. */
      readonly strict: boolean;
      /** The file of SECRET_KEYS_FILE; undefined: ids of keys are not checked. */
      readonly keyFile: string | undefined;
      /** The store that has to count by the rules; undefined: any. */
      readonly abilities?: StoreAbilities | undefined;
      /** Undefined: only check. */
      readonly explain?: ExplainQuestion | undefined;
    }
  | { readonly kind: 'help' }
  | { readonly kind: 'mistake'; readonly message: string };

export const USAGE = `usage: ratelimit-config-check [-merge_domain_configs] [-strict] [-backend NAME]
                              [-key_file FILE] -config_dir DIR | FILE | -
       ratelimit-config-check -explain -domain DOMAIN -descriptors K=V[,K=V...] -config_dir DIR | FILE | -

Reads rules as the service does and prints every mistake in them.

  -config_dir DIR         all *.yaml and *.yml files of DIR and below it, as one set
  FILE                    one file
  -                       one file from the standard input
  -merge_domain_configs   several files may have the same domain (MERGE_DOMAIN_CONFIG=true)
  -strict                 warnings are mistakes too
  -backend NAME           kvstore, memstore or memory: rules that this store cannot count
                          by are mistakes
  -key_file FILE          also check that value_hash names keys of this file (SECRET_KEYS_FILE);
                          -explain shows their tokens
  -explain                also print the path of descriptors through the rules, and why one meets no limit
  -domain DOMAIN          the domain of these descriptors
  -descriptors K=V,...    one descriptor; repeat the flag for several
  -help                   print this

Flags may be written with one dash or two. Exit status: 0 when the service would take the
rules (without -strict also with warnings), else 1.`;

const TRUES = ['1', 't', 'T', 'TRUE', 'true', 'True'];
const FALSES = ['0', 'f', 'F', 'FALSE', 'false', 'False'];

interface Draft {
  readonly sources: RuleInput[];
  /** As written, each. */
  readonly backends: string[];
  readonly switches: Record<string, string>;
  readonly keyFiles: string[];
  readonly domains: string[];
  readonly descriptors: (readonly Entry[])[];
}

const HELP = new Set(['-h', '--h', '-help', '--help']);

/** Reads flags as Go's `flag` package writes them: `-name value`, `-name=value`, `-switch`. */
export function parseCheckOptions(args: readonly string[]): CheckOptions {
  const rest = [...args];
  const draft: Draft = {
    sources: [],
    backends: [],
    keyFiles: [],
    switches: { merge_domain_configs: 'false', strict: 'false', explain: 'false' },
    domains: [],
    descriptors: [],
  };
  for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
    if (HELP.has(arg)) return { kind: 'help' };
    const problem = readArgument(arg, rest, draft);
    if (problem !== undefined) return mistake(problem);
  }
  return toOptions(draft);
}

/** Takes one argument, and its value from the rest; the text is what is wrong with it. */
function readArgument(arg: string, rest: string[], draft: Draft): string | undefined {
  const { sources, switches } = draft;
  const [, name = '', value] = /^--?([a-z_]+)(?:=(.*))?$/s.exec(arg) ?? [];
  if (VALUED.has(name)) return readValued(name, value ?? rest.shift() ?? '', draft);
  if (Object.hasOwn(switches, name)) switches[name] = value ?? 'true';
  else if (arg === '-') sources.push({ kind: 'standard-input' });
  else if (!arg.startsWith('-')) sources.push({ kind: 'file', path: arg });
  else return `unknown argument ${JSON.stringify(arg)}`;
  return undefined;
}

/** Flags that take a value. */
const VALUED = new Set(['config_dir', 'backend', 'key_file', 'domain', 'descriptors']);

function readValued(name: string, value: string, draft: Draft): string | undefined {
  if (name === 'config_dir') draft.sources.push({ kind: 'directory', path: value });
  else if (name === 'backend') draft.backends.push(value);
  else if (name === 'key_file') draft.keyFiles.push(value);
  else if (name === 'domain') draft.domains.push(value);
  else {
    const entries = toEntries(value);
    if (entries === undefined) return '-descriptors: expected <key>=<value>[,<key>=<value>...]';
    draft.descriptors.push(entries);
  }
  return undefined;
}

function toEntries(text: string): readonly Entry[] | undefined {
  const entries = text.split(',').map((pair) => {
    const at = pair.indexOf('=');
    return { key: pair.slice(0, Math.max(at, 0)), value: pair.slice(at + 1) };
  });
  return entries.some(({ key }) => key === '') ? undefined : entries;
}

function toOptions(draft: Draft): CheckOptions {
  const { sources, switches } = draft;
  const [source, another] = sources;
  if (source === undefined || another !== undefined) {
    return mistake('expected one of -config_dir DIR, FILE or -');
  }
  if (source.kind === 'directory' && source.path === '') {
    return mistake('-config_dir needs a directory');
  }
  if (draft.keyFiles.includes('')) return mistake('-key_file needs a file');
  const wrong = findWrongSwitch(switches);
  if (wrong !== undefined) return mistake(wrong);
  const abilities = readBackend(draft.backends);
  if (typeof abilities === 'string') return mistake(abilities);
  const isOn = (name: string) => TRUES.includes(switches[name] ?? '');
  const mergeDomains = isOn('merge_domain_configs');
  const keyFile = draft.keyFiles.at(-1);
  const check = {
    kind: 'check',
    source,
    mergeDomains,
    strict: isOn('strict'),
    abilities,
    keyFile,
  } as const;
  return isOn('explain') ? withPendingRequest(check, draft) : check;
}

function findWrongSwitch(switches: Draft['switches']): string | undefined {
  for (const [name, value] of Object.entries(switches)) {
    if (TRUES.includes(value) || FALSES.includes(value)) continue;
    return `-${name} is either true or false, not ${JSON.stringify(value)}`;
  }
  return undefined;
}

function withPendingRequest(
  check: Extract<CheckOptions, { kind: 'check' }>,
  { domains, descriptors }: Draft,
): CheckOptions {
  const domain = domains.at(-1) ?? '';
  if (domain === '' || descriptors.length === 0) {
    return mistake('-explain needs -domain and -descriptors');
  }
  return { ...check, explain: { domain, descriptors } };
}

function mistake(message: string): CheckOptions {
  return { kind: 'mistake', message };
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
