import { UsageError } from '../platform/errors';
import { type Flag, type FlagValues, helpRows, readArguments, toValues } from '../platform/flags';

/** The aliases are the reference client's names for TLS. */
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
  tls: { about: "use TLS and the system's certificate authorities", aliases: ['grpc-use-tls'] },
  tls_ca_cert: {
    value: 'FILE',
    about: 'use TLS and trust this authority (PEM)',
    aliases: ['grpc-server-ca-file'],
  },
  tls_cert: {
    value: 'FILE',
    about: 'show this client certificate (PEM), with -tls_key',
    aliases: ['grpc-cert-file'],
  },
  tls_key: { value: 'FILE', about: 'its private key (PEM)', aliases: ['grpc-key-file'] },
  tls_server_name: { value: 'NAME', about: "the name on the service's certificate" },
  'oltp-protocol': {
    value: 'PROTOCOL',
    about: "no effect; accepted because the reference's client has it",
  },
  help: { about: 'print this help', aliases: ['h'] },
} as const satisfies Record<string, Flag>;

/** Reads flags; one without a value may be given one (`-json=false`). All are kept in order, also repeated ones. */
export function readFlags(args: readonly string[]): FlagValues {
  const read = readArguments(args, FLAGS);
  for (const { written, name, flag, value } of read) {
    if (name === undefined)
      throw new UsageError(
        `${JSON.stringify(written)} is not a flag: flags begin with a dash, see -help`,
      );
    if (flag === undefined) throw new UsageError(`no such flag: -${name}; see -help`);
    if (value === undefined && flag.value !== undefined)
      throw new UsageError(`-${name} needs a value; see -help`);
  }
  return toValues(read);
}

export const USAGE = `usage: ratelimit-client -domain DOMAIN -descriptors K=V[,K=V...] [flags]

${helpRows(FLAGS, 28)}
Under a rule with reservations, a last entry reserve=ID holds the hits, and settle=ID charges what
-descriptor_hits says, or what was held where it is not given.

exit code: 0 OK, 2 OVER_LIMIT, 1 error
`;
