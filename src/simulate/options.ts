import { parseArgs } from 'node:util';
import { UsageError } from '../platform/errors';
import { UnreadableLine } from './log-record';
import { readTime } from './read-time';

/** What the command line asks for. */
export interface SimulateOptions {
  readonly configDir: string;
  /** Another set of rules to compare with. */
  readonly against: string | undefined;
  readonly mergeDomains: boolean;
  /** A file, or `-` for the standard input. */
  readonly input: string;
  readonly format: LogFormat;
  readonly map: string | undefined;
  readonly report: 'text' | 'json';
  /** A file that gets one line of the decision log for each request. */
  readonly decisions: string | undefined;
  readonly fromSeconds: number;
  readonly toSeconds: number;
  readonly reorderSeconds: number;
  readonly sampleRate: number | undefined;
  readonly nearLimitRatio: number;
}

const FORMATS = ['jsonl', 'envoy-json', 'json', 'combined'] as const;
export type LogFormat = (typeof FORMATS)[number];

export const USAGE = `usage: ratelimit-simulate -config_dir DIR -input FILE [flags]

Decides the requests of a log by rules, as the service would have, on the clock of the log.

  -config_dir DIR         the rules: all *.yaml and *.yml files of DIR and below it
  -against DIR            other rules: prints what they decide differently
  -merge_domain_configs   several files may have the same domain (MERGE_DOMAIN_CONFIG=true)
  -input FILE             the log; - reads the standard input
  -format FORMAT          jsonl (default: requests or a decision log), json or envoy-json (any JSON
                          access log) or combined; all but jsonl need -map
  -map FILE               how a line of an access log becomes descriptors
  -report FORMAT          text (default) or json
  -decisions FILE         write one line for each decision, as the decision log does
  -from TIME, -to TIME    only requests from a time on, and before another (RFC 3339)
  -reorder DURATION       how late a line may come (default 5s)
  -sample_rate SHARE      the log holds this share of all requests (0.01): limits and bursts are scaled
  -near_limit_ratio SHARE NEAR_LIMIT_RATIO of the service (default 0.8)
  -help                   print this

Flags may be written with one dash or two. Exit status:
  0  decided; with -against: and no decision changes
  1  an error (the command line, a file, the rules), or the log proves nothing: it has no line that can
     be read, none gave a descriptor, none matched a rule; with -against also when more than 1 % of the
     lines cannot be read
  3  with -against: a decision changes
`;

/** Reads the command line; undefined: it asks for help. Throws `UsageError`. */
export function parseOptions(args: readonly string[]): SimulateOptions | undefined {
  const values = parseFlags(args);
  if (values.help === true) return undefined;
  const { config_dir: configDir, input, map } = values;
  if (configDir === undefined) throw new UsageError('-config_dir is missing');
  if (input === undefined) throw new UsageError('-input is missing');
  const format = oneOf('format', values.format, FORMATS);
  checkMap(format, map);
  return {
    configDir,
    against: values.against,
    mergeDomains: values.merge_domain_configs ?? false,
    input,
    format,
    map,
    report: oneOf('report', values.report, ['text', 'json'] as const),
    decisions: values.decisions,
    fromSeconds: toTime('from', values.from) ?? -Infinity,
    toSeconds: toTime('to', values.to) ?? Infinity,
    reorderSeconds: toSeconds('reorder', values.reorder),
    sampleRate: toShare('sample_rate', values.sample_rate),
    nearLimitRatio: toShare('near_limit_ratio', values.near_limit_ratio) ?? 0.8,
  };
}

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

function parseFlags(args: readonly string[]) {
  const text = { type: 'string' } as const;
  const toggle = { type: 'boolean' } as const;
  try {
    return parseArgs({
      args: args.map((arg) => arg.replace(/^-(?=[a-z_]{2})/, '--').replace(/^-h$/, '--help')),
      options: {
        config_dir: text,
        against: text,
        merge_domain_configs: toggle,
        input: text,
        format: { ...text, default: 'jsonl' },
        map: text,
        report: { ...text, default: 'text' },
        decisions: text,
        from: text,
        to: text,
        reorder: { ...text, default: '5s' },
        sample_rate: text,
        near_limit_ratio: text,
        help: toggle,
      },
    }).values;
  } catch (error) {
    throw new UsageError(toMistake(error as NodeJS.ErrnoException));
  }
}

/** What Node says of a command line, with flags as they are written here. */
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
