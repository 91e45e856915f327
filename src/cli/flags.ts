import { readArguments } from '../platform/arguments';
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
  descriptor_hits: {
    value: 'N',
    about:
      'hits of each descriptor, negative to refund; given once for all, or once per -descriptors',
  },
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
    about: "no effect; accepted because the reference's client has it",
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

/** Reads flags; one without a value may be given one (`-json=false`). All are kept in order, also those given twice. */
export function readFlags(args: readonly string[]): FlagValues {
  const values = new Map<FlagName, string[]>();
  for (const { written, name, value } of readArguments(args, VALUED)) {
    if (name === undefined)
      throw new UsageError(
        `${JSON.stringify(written)} is not a flag: flags begin with a dash, see -help`,
      );
    const known = Object.hasOwn(ALIASES, name) ? ALIASES[name] : name;
    if (!isFlag(known)) throw new UsageError(`no such flag: -${name}; see -help`);
    if (value === undefined && takesValue(known))
      throw new UsageError(`-${known} needs a value; see -help`);
    values.set(known, [...(values.get(known) ?? []), value ?? 'true']);
  }
  return values;
}

function isFlag(name: string | undefined): name is FlagName {
  return name !== undefined && Object.hasOwn(FLAGS, name);
}

function takesValue(name: FlagName): boolean {
  return 'value' in FLAGS[name];
}

/** By all their names. */
const VALUED = [...Object.keys(FLAGS), ...Object.keys(ALIASES)].filter((name) =>
  takesValue(isFlag(name) ? name : (ALIASES[name] ?? 'help')),
);

/** The help text. */
export function usage(): string {
  const rows = Object.entries<Flag>(FLAGS).map(([name, flag]) => {
    const written = `-${name}${flag.value === undefined ? '' : ` ${flag.value}`}`;
    const fallback = flag.default === undefined ? '' : ` (default ${flag.default})`;
    return `  ${written.padEnd(28)}${flag.about}${fallback}\n`;
  });
  return (
    'usage: ratelimit-client -domain DOMAIN -descriptors K=V[,K=V...] [flags]\n\n' +
    `${rows.join('')}\n` +
    'Under a rule with reservations, a last entry reserve=ID holds the hits, and settle=ID charges what\n' +
    '-descriptor_hits says, or what was held where it is not given.\n\n' +
    `exit code: 0 OK, 2 OVER_LIMIT, 1 error\n`
  );
}
