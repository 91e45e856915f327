import type { Entry } from '../../core/model';
import { BACKENDS, type StoreAbilities } from '../../core/rules/parse/store-abilities';
import { readArguments, type Argument } from '../../platform/arguments';
import type { RuleInput } from '../load-result';
import type { ExplainQuestion } from './explain-rules';

/** What the command line of `ratelimit-config-check` asks for. */
export type CheckOptions =
  | {
      readonly kind: 'check';
      /** Undefined: no rules, checks alone. */
      readonly source: RuleInput | undefined;
      /** What CHECK_CONFIG is to name. */
      readonly checkConfig: string | undefined;
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
       ratelimit-config-check -check_config PATH
       ratelimit-config-check -explain -domain DOMAIN -descriptors K=V[,K=V...] -config_dir DIR | FILE | -

Reads rules, and what CHECK_CONFIG names, as the service does, and prints every mistake in them.

  -config_dir DIR         all *.yaml and *.yml files of DIR and below it, as one set
  FILE                    one file
  -                       one file from the standard input
  -merge_domain_configs   several files may have the same domain (MERGE_DOMAIN_CONFIG=true)
  -strict                 warnings are mistakes too
  -backend NAME           kvstore, memstore or memory: rules that this store cannot count
                          are mistakes
  -key_file FILE          also check that value_hash names keys of this file (SECRET_KEYS_FILE);
                          -explain shows their tokens
  -check_config PATH      the file or directory of CHECK_CONFIG, alone or beside rules
  -explain                also print the path of descriptors through the rules, and why one matches no limit
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
  readonly checkConfigs: string[];
  readonly domains: string[];
  readonly descriptors: (readonly Entry[])[];
}

export function parseCheckOptions(args: readonly string[]): CheckOptions {
  const draft: Draft = {
    sources: [],
    backends: [],
    keyFiles: [],
    checkConfigs: [],
    switches: { merge_domain_configs: 'false', strict: 'false', explain: 'false' },
    domains: [],
    descriptors: [],
  };
  for (const argument of readArguments(args, VALUED)) {
    const { name, value } = argument;
    if ((name === 'h' || name === 'help') && value === undefined) return { kind: 'help' };
    const problem = readArgument(argument, draft);
    if (problem !== undefined) return mistake(problem);
  }
  return toOptions(draft);
}

/** Takes one argument; the text is what is wrong with it. */
function readArgument({ written, name = '', value }: Argument, draft: Draft): string | undefined {
  const { sources, switches } = draft;
  if (VALUED.includes(name)) return readValued(name, value ?? '', draft);
  if (Object.hasOwn(switches, name)) switches[name] = value ?? 'true';
  else if (written === '-') sources.push({ kind: 'standard-input' });
  else if (!written.startsWith('-')) sources.push({ kind: 'file', path: written });
  else return `unknown argument ${JSON.stringify(written)}`;
  return undefined;
}

/** Flags that take a value. */
const VALUED = ['config_dir', 'check_config', 'backend', 'key_file', 'domain', 'descriptors'];

function readValued(name: string, value: string, draft: Draft): string | undefined {
  if (name === 'config_dir') draft.sources.push({ kind: 'directory', path: value });
  else if (name === 'backend') draft.backends.push(value);
  else if (name === 'key_file') draft.keyFiles.push(value);
  else if (name === 'check_config') draft.checkConfigs.push(value);
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
  const [source] = sources;
  const checkConfig = draft.checkConfigs.at(-1);
  const wrong = findWrongSource(draft, checkConfig) ?? findWrongSwitch(switches);
  if (wrong !== undefined) return mistake(wrong);
  const abilities = readBackend(draft.backends);
  if (typeof abilities === 'string') return mistake(abilities);
  const isOn = (name: string) => TRUES.includes(switches[name] ?? '');
  const mergeDomains = isOn('merge_domain_configs');
  const keyFile = draft.keyFiles.at(-1);
  const strict = isOn('strict');
  const check = {
    kind: 'check',
    ...{ source, checkConfig, mergeDomains, strict, abilities, keyFile },
  } as const;
  return isOn('explain') ? withPendingRequest(check, draft) : check;
}

/** What is wrong with the names of files. */
function findWrongSource(
  { sources, keyFiles }: Draft,
  checkConfig: string | undefined,
): string | undefined {
  const [source, another] = sources;
  if ((source ?? checkConfig) === undefined || another !== undefined)
    return 'expected one of -config_dir DIR, FILE or -, or -check_config PATH';
  if (checkConfig === '') return '-check_config needs a file or a directory';
  if (source?.kind === 'directory' && source.path === '') return '-config_dir needs a directory';
  return keyFiles.includes('') ? '-key_file needs a file' : undefined;
}

function findWrongSwitch(switches: Draft['switches']): string | undefined {
  for (const [name, value] of Object.entries(switches)) {
    if (TRUES.includes(value) || FALSES.includes(value)) continue;
    return `-${name} is ${JSON.stringify(value)}, expected true or false`;
  }
  return undefined;
}

function withPendingRequest(
  check: Extract<CheckOptions, { kind: 'check' }>,
  { domains, descriptors }: Draft,
): CheckOptions {
  const domain = domains.at(-1) ?? '';
  if (check.source === undefined || domain === '' || descriptors.length === 0) {
    return mistake('-explain needs -domain, -descriptors and rules');
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
  return `-backend is ${found}, expected one of ${BACKENDS.join(', ')}`;
}
