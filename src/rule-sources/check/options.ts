import type { Entry } from '../../core/model';
import { BACKENDS, type StoreAbilities } from '../../core/rules/parse/store-abilities';
import {
  type Argument,
  type FlagValues,
  type Flags,
  helpRows,
  readArguments,
  toValues,
} from '../../platform/flags';
import type { RuleInput } from '../load-result';
import type { ExplainQuestion } from './explain-rules';

/** The meaning of `ratelimit-config-check`'s command line. */
export type CheckOptions =
  | {
      readonly kind: 'check';
      /** Undefined: no rules, only checks. */
      readonly source: RuleInput | undefined;
      /** The file or directory for CHECK_CONFIG. */
      readonly checkConfig: string | undefined;
      /** Manifests, compositions and files of settings. */
      readonly deployments?: readonly string[] | undefined;
      readonly mergeDomains: boolean;
      /** The file or directory for RULE_OVERLAYS. */
      readonly overlays?: string | undefined;
      /** The rules are an answer of a management server. */
      readonly isXds?: boolean | undefined;
      /** Treats warnings as mistakes. */
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

const FLAGS = {
  config_dir: {
    value: 'DIR',
    about: 'the files of DIR and below it, as one set, as the service reads them',
  },
  merge_domain_configs: {
    about: 'several files may have the same domain (MERGE_DOMAIN_CONFIG=true)',
  },
  strict: { about: 'warnings are mistakes too' },
  backend: {
    value: 'NAME',
    about: 'kvstore, memstore or memory: rules that this store cannot count\nare mistakes',
  },
  key_file: {
    value: 'FILE',
    about:
      'also check that value_hash names keys of this file (SECRET_KEYS_FILE);\n-explain shows their tokens',
  },
  check_config: {
    value: 'PATH',
    about: 'the file or directory of CHECK_CONFIG, alone or beside rules',
  },
  overlays: {
    value: 'PATH',
    about: 'the file or directory of RULE_OVERLAYS, alone or for the rules',
  },
  xds: {
    value: 'FILE',
    about:
      'rules as a management server sends them: a DiscoveryResponse, its bytes or JSON\n(as grpcurl prints it); - is the standard input',
  },
  deployment: {
    value: 'FILE',
    about:
      'say what of a Kubernetes manifest, compose file or env file differs from the\n' +
      'reference, alone or beside rules; - is the standard input; repeat the flag for\nseveral',
  },
  explain: {
    about: 'also print the path of descriptors through the rules, and why one matches no limit',
  },
  domain: { value: 'DOMAIN', about: 'the domain of these descriptors' },
  descriptors: { value: 'K=V,...', about: 'one descriptor; repeat the flag for several' },
  help: { about: 'print this', aliases: ['h'] },
} as const satisfies Flags;

const { config_dir, ...others } = FLAGS;

export const USAGE = `usage: ratelimit-config-check [-merge_domain_configs] [-strict] [-backend NAME]
                              [-key_file FILE] -config_dir DIR | FILE | -
       ratelimit-config-check [-overlays PATH] [-xds FILE]
       ratelimit-config-check -check_config PATH
       ratelimit-config-check -deployment FILE [-deployment FILE...]
       ratelimit-config-check -explain -domain DOMAIN -descriptors K=V[,K=V...] -config_dir DIR | FILE | -

Reads rules, and what CHECK_CONFIG names, as the service does, and prints every mistake in them. Reads
the files of a deployment, and says what in them differs from envoyproxy/ratelimit.

${helpRows({ config_dir }, 24)}  FILE                    one file
  -                       one file from the standard input
${helpRows(others, 24)}
Flags may be written with one dash or two. Exit status: 0 when the service would take the
rules (without -strict also with warnings), else 1.`;

const TRUES = ['1', 't', 'T', 'TRUE', 'true', 'True'];
const FALSES = ['0', 'f', 'F', 'FALSE', 'false', 'False'];

export function parseCheckOptions(args: readonly string[]): CheckOptions {
  const read = readArguments(args, FLAGS);
  for (const argument of read) {
    if (argument.name === 'help' && argument.value === undefined) return { kind: 'help' };
    const problem = findProblem(argument);
    if (problem !== undefined) return mistake(problem);
  }
  return toOptions(read.flatMap(toSources), toValues(read));
}

function findProblem({ written, name, flag, value = '' }: Argument): string | undefined {
  if (name === 'descriptors' && toEntries(value) === undefined)
    return '-descriptors: expected <key>=<value>[,<key>=<value>...]';
  const isKnown = flag !== undefined && name !== 'help';
  if (isKnown || written === '-' || !written.startsWith('-')) return undefined;
  return `unknown argument ${JSON.stringify(written)}`;
}

const STANDARD_INPUT: RuleInput = { kind: 'standard-input' };

function toSources({ written, name, value = '' }: Argument): readonly RuleInput[] {
  if (name === 'config_dir') return [{ kind: 'directory', path: value }];
  if (name === 'xds') return [value === '-' ? STANDARD_INPUT : { kind: 'file', path: value }];
  if (name !== undefined) return [];
  return [written === '-' ? STANDARD_INPUT : { kind: 'file', path: written }];
}

function toEntries(text: string): readonly Entry[] | undefined {
  const entries = text.split(',').map((pair) => {
    const at = pair.indexOf('=');
    return { key: pair.slice(0, Math.max(at, 0)), value: pair.slice(at + 1) };
  });
  return entries.some(({ key }) => key === '') ? undefined : entries;
}

function toOptions(sources: readonly RuleInput[], values: FlagValues): CheckOptions {
  const wrong = findWrongSource(sources, values) ?? findWrongSwitch(values);
  if (wrong !== undefined) return mistake(wrong);
  const abilities = readBackend(values.get('backend') ?? []);
  if (typeof abilities === 'string') return mistake(abilities);
  const isOn = (name: (typeof SWITCHES)[number]) => TRUES.includes(lastOf(values, name) ?? '');
  const check = {
    kind: 'check',
    source: sources[0],
    checkConfig: lastOf(values, 'check_config'),
    overlays: lastOf(values, 'overlays'),
    isXds: values.has('xds') ? true : undefined,
    deployments: values.get('deployment'),
    mergeDomains: isOn('merge_domain_configs'),
    strict: isOn('strict'),
    abilities,
    keyFile: lastOf(values, 'key_file'),
  } as const;
  if (!isOn('explain')) return check;
  const explain = toQuestion(values);
  if (check.source === undefined || explain === undefined)
    return mistake('-explain needs -domain, -descriptors and rules');
  return { ...check, explain };
}

function toQuestion(values: FlagValues): ExplainQuestion | undefined {
  const domain = lastOf(values, 'domain') ?? '';
  const descriptors = (values.get('descriptors') ?? []).map((text) => toEntries(text) ?? []);
  return domain === '' || descriptors.length === 0 ? undefined : { domain, descriptors };
}

function lastOf(values: FlagValues, name: keyof typeof FLAGS): string | undefined {
  return values.get(name)?.at(-1);
}

function findWrongSource(sources: readonly RuleInput[], values: FlagValues): string | undefined {
  const [source, another] = sources;
  const isNothing = !OTHERS.some((name) => values.has(name)) && source === undefined;
  if (isNothing || another !== undefined)
    return 'expected one of -config_dir DIR, FILE, - or -xds FILE, or -overlays PATH, -check_config PATH or -deployment FILE';
  if (isInputShared(sources, values))
    return '- is named more than once: the standard input can be read once';
  const nameless = PATHS.find((name) => lastOf(values, name) === '');
  if (nameless !== undefined) return `-${nameless} needs a file or a directory`;
  if (source?.kind === 'directory' && source.path === '') return '-config_dir needs a directory';
  const unnamed = FILES.find((name) => values.get(name)?.includes('') === true);
  return unnamed && `-${unnamed} needs a file`;
}

/** Whether the standard input is named more than once. */
function isInputShared(sources: readonly RuleInput[], values: FlagValues): boolean {
  const rules = sources.filter(({ kind }) => kind === 'standard-input');
  const deployments = (values.get('deployment') ?? []).filter((path) => path === '-');
  return rules.length + deployments.length > 1;
}

/** Subjects that may be checked without rules. */
const OTHERS = ['check_config', 'overlays', 'deployment'] as const;
const PATHS = ['check_config', 'overlays'] as const;
const FILES = ['key_file', 'deployment', 'xds'] as const;

const SWITCHES = ['merge_domain_configs', 'strict', 'explain'] as const;

function findWrongSwitch(values: FlagValues): string | undefined {
  for (const name of SWITCHES) {
    const value = lastOf(values, name) ?? 'false';
    if (TRUES.includes(value) || FALSES.includes(value)) continue;
    return `-${name} is ${JSON.stringify(value)}, expected true or false`;
  }
  return undefined;
}

function mistake(message: string): CheckOptions {
  return { kind: 'mistake', message };
}

/** The abilities of the store; undefined when none is named. A string is a mistake. */
function readBackend(names: readonly string[]): StoreAbilities | string | undefined {
  const [name, another] = names;
  if (name === undefined) return undefined;
  const kind = BACKENDS.find((one) => one === name);
  if (kind !== undefined && another === undefined) return { kind, scripts: true };
  const found = names.map((one) => JSON.stringify(one)).join(', ');
  return `-backend is ${found}, expected one of ${BACKENDS.join(', ')}`;
}
