import { UsageError } from '../platform/errors';
import { type Flags, helpRows, readStrictly } from '../platform/flags';
import { UnreadableLine, readTime } from './log-record';

const FORMATS = ['jsonl', 'envoy-json', 'json', 'envoy-text', 'istio-text', 'combined'] as const;
export type LogFormat = (typeof FORMATS)[number];

const FLAGS = {
  config_dir: {
    value: 'DIR',
    about: 'the rules: the files of DIR and below it, as the service reads them',
  },
  against: { value: 'DIR', about: 'other rules: prints what they decide differently' },
  merge_domain_configs: {
    about: 'several files may have the same domain (MERGE_DOMAIN_CONFIG=true)',
  },
  input: { value: 'FILE', about: 'the log; - reads the standard input' },
  format: {
    value: 'FORMAT',
    about:
      'jsonl (default: requests or a decision log), json or envoy-json (any JSON\n' +
      'access log), envoy-text or istio-text (their default text log) or combined;\n' +
      'all but jsonl need -map',
  },
  map: { value: 'FILE', about: 'how a line of an access log becomes descriptors' },
  report: { value: 'FORMAT', about: 'text (default) or json' },
  decisions: { value: 'FILE', about: 'write one line for each decision, as the decision log does' },
  from: {
    value: 'TIME, -to TIME',
    about: 'only requests from a time on, and before another (RFC 3339)',
  },
  to: { value: 'TIME' },
  reorder: { value: 'DURATION', about: 'how late a line may come', default: '5s' },
  sample_rate: {
    value: 'SHARE',
    about: 'the log holds this share of all requests (0.01): limits and bursts are scaled',
  },
  near_limit_ratio: { value: 'SHARE', about: 'NEAR_LIMIT_RATIO of the service', default: '0.8' },
  help: { about: 'print this' },
} as const satisfies Flags;

export const USAGE = `usage: ratelimit-simulate -config_dir DIR -input FILE [flags]

Decides the requests of a log by rules, as the service would have, on the clock of the log.

${helpRows(FLAGS, 24)}
Flags may be written with one dash or two. Exit status:
  0  decided; with -against: and no decision changes
  1  an error (the command line, a file, the rules), or the log proves nothing: it has no line that can
     be read, none gave a descriptor, none matched a rule; with -against also when more than 1 % of the
     lines cannot be read
  3  with -against: a decision changes
`;

/** Reads the command line; undefined: it requests help. Throws `UsageError`. */
export function parseOptions(args: readonly string[]) {
  const values = readFlags(args);
  const last = (name: keyof typeof FLAGS) => values.get(name)?.at(-1);
  if (values.has('help')) return undefined;
  const configDir = last('config_dir');
  const input = last('input');
  const map = last('map');
  if (configDir === undefined) throw new UsageError('-config_dir is missing');
  if (input === undefined) throw new UsageError('-input is missing');
  const format = oneOf('format', last('format') ?? 'jsonl', FORMATS);
  checkMap(format, map);
  return {
    configDir,
    /** Another set of rules to compare with. */
    against: last('against'),
    mergeDomains: values.has('merge_domain_configs'),
    /** A file, or `-` for standard input. */
    input,
    format,
    map,
    report: oneOf('report', last('report') ?? 'text', ['text', 'json'] as const),
    /** A file that gets one line of the decision log for each request. */
    decisions: last('decisions'),
    /** Unix seconds; from is inclusive, to is not. */
    fromSeconds: toTime('from', last('from')) ?? -Infinity,
    toSeconds: toTime('to', last('to')) ?? Infinity,
    /** How late a line may be. */
    reorderSeconds: toSeconds('reorder', last('reorder') ?? FLAGS.reorder.default),
    sampleRate: toShare('sample_rate', last('sample_rate')),
    nearLimitRatio:
      toShare('near_limit_ratio', last('near_limit_ratio')) ??
      Number(FLAGS.near_limit_ratio.default),
  };
}

/** The parsed command line. */
export type SimulateOptions = NonNullable<ReturnType<typeof parseOptions>>;

function checkMap(format: LogFormat, map: string | undefined): void {
  if (format === 'jsonl' && map !== undefined) {
    throw new UsageError('-map has no effect with -format jsonl: leave it out');
  }
  if (format !== 'jsonl' && map === undefined) {
    throw new UsageError(
      `-format ${format} needs -map FILE: it says how a line becomes descriptors`,
    );
  }
}

function readFlags(args: readonly string[]) {
  const dashed = args.map((arg) => arg.replace(/^-(?=[a-z_]{2})/, '--').replace(/^-h$/, '--help'));
  try {
    return readStrictly(dashed, FLAGS, false).values;
  } catch (error) {
    throw new UsageError(toMistake(error as NodeJS.ErrnoException));
  }
}

/** Node's error about a command line, with flags as they are written here. */
function toMistake({ code, message }: NodeJS.ErrnoException): string {
  const [, name = ''] = /'-{0,2}([^' ]*)/.exec(message) ?? [];
  if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') return `no such flag: -${name}`;
  if (code === 'ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL') return `unknown argument "${name}"`;
  return message.includes('does not take') ? `-${name} takes no value` : `-${name} needs a value`;
}

function oneOf<T extends string>(name: string, value: string, known: readonly T[]): T {
  const found = known.find((one) => one === value);
  if (found !== undefined) return found;
  throw new UsageError(`-${name} is "${value}", expected one of ${known.join(', ')}`);
}

function toTime(name: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  try {
    return readTime(value, 'rfc3339');
  } catch (error) {
    if (!(error instanceof UnreadableLine)) throw error;
    throw new UsageError(`-${name} is "${value}", expected a time like 2026-11-22T14:00:00Z`);
  }
}

function toSeconds(name: string, value: string): number {
  const [, number = '', unit = ''] = /^(\d+(?:\.\d+)?)(ms|s|m)$/.exec(value) ?? [];
  if (number === '') throw new UsageError(`-${name} is "${value}", expected a duration like 5s`);
  return Number(number) * ({ ms: 0.001, s: 1, m: 60 }[unit] ?? 1);
}

function toShare(name: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const share = Number(value);
  if (share > 0 && share <= 1) return share;
  throw new UsageError(`-${name} is "${value}", expected a number above 0 and up to 1`);
}
