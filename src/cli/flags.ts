import { UsageError } from '../platform/errors';

/** How a flag is written and what it is for. */
export interface Flag {
  /** What stands for its value in the help; undefined for a flag that takes none. */
  readonly value?: string;
  readonly about: string;
  readonly default?: string;
}

/** The flags by name. */
export const FLAGS = {
  dial_string: { value: 'ADDRESS', about: 'address of the service', default: 'localhost:8081' },
  domain: { value: 'DOMAIN', about: 'domain of the limits' },
  descriptors: {
    value: 'K=V[,K=V...]',
    about: 'one descriptor; repeat the flag for several',
  },
  hits_addend: { value: 'N', about: 'hits to add; 0 leaves it to the service', default: '0' },
  timeout: { value: 'DURATION', about: 'how long to wait: 500ms, 5s, 1m', default: '5s' },
  json: { about: 'print the answer as proto3 JSON' },
  explain: { about: 'count nothing: ask the debug port what would be answered and why' },
  debug: { value: 'ADDRESS', about: 'address of the debug port', default: 'localhost:6070' },
  token_file: { value: 'FILE', about: 'file with the token of the debug port (ADMIN_TOKEN_FILE)' },
  tls: { about: "use TLS and the system's certificate authorities" },
  tls_ca_cert: { value: 'FILE', about: 'use TLS and trust this authority (PEM)' },
  tls_cert: { value: 'FILE', about: 'show this client certificate (PEM), with -tls_key' },
  tls_key: { value: 'FILE', about: 'its private key (PEM)' },
  tls_server_name: { value: 'NAME', about: "the name on the service's certificate" },
  'oltp-protocol': {
    value: 'PROTOCOL',
    about: "no effect: the reference's client exports traces by it",
  },
  help: { about: 'print this help' },
} as const satisfies Record<string, Flag>;

/** Other names of flags: those that the reference's client has for TLS. */
const ALIASES: Readonly<Record<string, FlagName>> = {
  h: 'help',
  'grpc-use-tls': 'tls',
  'grpc-server-ca-file': 'tls_ca_cert',
  'grpc-cert-file': 'tls_cert',
  'grpc-key-file': 'tls_key',
};

export type FlagName = keyof typeof FLAGS;
export type FlagValues = ReadonlyMap<FlagName, readonly string[]>;

/**
 * Reads `-flag value`, `-flag=value`, and both with two dashes. A flag without a value may be given one
 * (`-json=false`). Everything is kept in order, also flags that are given twice.
 */
export function readFlags(args: readonly string[]): FlagValues {
  const values = new Map<FlagName, string[]>();
  for (let index = 0; index < args.length; index++) {
    const { name, value } = splitFlag(args[index] ?? '');
    const given = values.get(name) ?? [];
    values.set(name, given);
    if (value !== undefined) given.push(value);
    else if (!takesValue(name)) given.push('true');
    else given.push(nextValue(name, args, ++index));
  }
  return values;
}

function splitFlag(arg: string): { readonly name: FlagName; readonly value: string | undefined } {
  const [, written, value] = /^--?([^-=][^=]*)(?:=(.*))?$/s.exec(arg) ?? [];
  if (written === undefined) {
    throw new UsageError(
      `${JSON.stringify(arg)} is not a flag: flags begin with a dash, see -help`,
    );
  }
  const name = Object.hasOwn(ALIASES, written) ? (ALIASES[written] as FlagName) : written;
  if (!Object.hasOwn(FLAGS, name)) throw new UsageError(`no such flag: -${name}; see -help`);
  return { name: name as FlagName, value };
}

function takesValue(name: FlagName): boolean {
  return 'value' in FLAGS[name];
}

function nextValue(name: FlagName, args: readonly string[], index: number): string {
  const value = args[index];
  if (value === undefined) throw new UsageError(`-${name} needs a value; see -help`);
  return value;
}

/** The help text. */
export function usage(): string {
  const rows = Object.entries<Flag>(FLAGS).map(([name, flag]) => {
    const written = `-${name}${flag.value === undefined ? '' : ` ${flag.value}`}`;
    const fallback = flag.default === undefined ? '' : ` (default ${flag.default})`;
    return `  ${written.padEnd(28)}${flag.about}${fallback}\n`;
  });
  return (
    'usage: ratelimit-client -domain DOMAIN -descriptors K=V[,K=V...] [flags]\n\n' +
    `${rows.join('')}\nexit code: 0 OK, 2 OVER_LIMIT, 1 error\n`
  );
}
