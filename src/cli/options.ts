import { UsageError } from '../platform/errors';
import { type Flag, type FlagValues, helpRows, readArguments, toValues } from '../platform/flags';

/** The aliases are the reference client's names for TLS. */
const FLAGS = {
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
function readFlags(args: readonly string[]): FlagValues {
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

/** A descriptor with the names of the protocol's JSON. */
export interface Descriptor {
  readonly entries: readonly { readonly key: string; readonly value: string }[];
  /** Its own hits, negative: a refund; undefined: those of the request. */
  readonly hits?: number;
}

export type TlsOptions = NonNullable<ReturnType<typeof parseTls>>;

export type ExplainOptions = NonNullable<ReturnType<typeof parseExplain>>;

/** The parsed command line. */
export interface ClientOptions {
  /** `host:port` or `unix:/path`. */
  readonly dialString: string;
  readonly domain: string;
  readonly descriptors: readonly Descriptor[];
  /** uint32; 0: the service's default, one hit. */
  readonly hitsAddend: number;
  readonly timeoutMs: number;
  /** Print proto3 JSON instead of lines for people. */
  readonly json: boolean;
  /** Undefined: plain text. */
  readonly tls: TlsOptions | undefined;
  /** Explain instead of requesting a decision; undefined: request one. */
  readonly explain?: ExplainOptions | undefined;
  /** Flags without effect, a line each. */
  readonly remarks?: readonly string[];
}

const MAX_UINT32 = 4_294_967_295;

/** The command line as options, or `help`. Throws a UsageError. */
export function parseOptions(args: readonly string[]): ClientOptions | 'help' {
  const flags = readFlags(args);
  if (isSet(flags, 'help')) return 'help';
  const domain = last(flags, 'domain');
  const descriptors = withHits(
    (flags.get('descriptors') ?? []).map(parseDescriptor),
    (flags.get('descriptor_hits') ?? []).map(parseOwnHits),
  );
  if (domain === undefined || domain === '') throw new UsageError('-domain is missing; see -help');
  if (descriptors.length === 0) throw new UsageError('-descriptors is missing; see -help');
  return {
    dialString: last(flags, 'dial_string') ?? FLAGS.dial_string.default,
    domain,
    descriptors,
    hitsAddend: parseHits(last(flags, 'hits_addend') ?? FLAGS.hits_addend.default),
    timeoutMs: parseDurationMs(last(flags, 'timeout') ?? FLAGS.timeout.default),
    json: isSet(flags, 'json'),
    tls: parseTls(flags),
    explain: parseExplain(flags),
    remarks: remarksOn(flags),
  };
}

function remarksOn(flags: FlagValues): readonly string[] {
  const protocol = last(flags, 'oltp-protocol') ?? '';
  return protocol === '' ? [] : ['-oltp-protocol has no effect: this client exports no traces'];
}

function last(flags: FlagValues, name: keyof typeof FLAGS): string | undefined {
  return flags.get(name)?.at(-1);
}

function isSet(flags: FlagValues, name: keyof typeof FLAGS): boolean {
  const value = last(flags, name) ?? 'false';
  if (value === 'true' || value === 'false') return value === 'true';
  throw new UsageError(`-${name} is ${JSON.stringify(value)}, expected true or false`);
}

function parseHits(text: string): number {
  const hits = Number(text);
  if (/^[0-9]+$/.test(text) && hits <= MAX_UINT32) return hits;
  const expected = `a whole number from 0 to ${String(MAX_UINT32)}`;
  throw new UsageError(`-hits_addend is ${JSON.stringify(text)}, expected ${expected}`);
}

function parseOwnHits(text: string): number {
  const hits = Number(text);
  if (/^-?[0-9]+$/.test(text) && Number.isSafeInteger(hits)) return hits;
  throw new UsageError(`-descriptor_hits is ${JSON.stringify(text)}, expected a whole number`);
}

/** One number applies to all descriptors, several to them in order. */
function withHits(
  descriptors: readonly Descriptor[],
  hits: readonly number[],
): readonly Descriptor[] {
  const [sole] = hits;
  if (sole === undefined) return descriptors;
  if (hits.length > 1 && hits.length !== descriptors.length)
    throw new UsageError(
      `-descriptor_hits is given ${String(hits.length)} times for ${String(descriptors.length)} -descriptors: give it once, or once for each`,
    );
  return descriptors.map((descriptor, at) => ({ ...descriptor, hits: hits[at] ?? sole }));
}

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000 };

function parseDurationMs(text: string): number {
  const [, amount = '', unit = ''] = /^([0-9]+(?:\.[0-9]+)?)(ms|s|m)$/.exec(text) ?? [];
  const milliseconds = Number(amount) * (UNIT_MS[unit] ?? 0);
  if (milliseconds > 0) return milliseconds;
  throw new UsageError(
    `-timeout is ${JSON.stringify(text)}, expected a duration such as 500ms or 5s`,
  );
}

/** Paths of PEM files; undefined ones are left to the system. */
function parseTls(flags: FlagValues) {
  const tls = {
    caCert: last(flags, 'tls_ca_cert'),
    cert: last(flags, 'tls_cert'),
    key: last(flags, 'tls_key'),
    /** The name that the certificate must have, if it differs from the dialled host. */
    serverName: last(flags, 'tls_server_name'),
  };
  if ((tls.cert === undefined) !== (tls.key === undefined)) {
    throw new UsageError('-tls_cert and -tls_key go together: give both or neither');
  }
  const isWanted = isSet(flags, 'tls') || Object.values(tls).some((value) => value !== undefined);
  return isWanted ? tls : undefined;
}

/** The address of the operator API: `debug` is the `host:port` of the debug port. */
function parseExplain(flags: FlagValues) {
  if (!isSet(flags, 'explain')) return undefined;
  const debug = parseDebugAddress(last(flags, 'debug') ?? FLAGS.debug.default);
  return { debug, tokenFile: last(flags, 'token_file') };
}

/** Reads `host:port`, also as a URL copied from a browser. */
function parseDebugAddress(text: string): string {
  const [, address] =
    /^(?:http:\/\/)?((?:\[[0-9a-fA-F:.]+\]|[^\s:/@]+):[0-9]{1,5})\/?$/.exec(text) ?? [];
  if (address !== undefined) return address;
  throw new UsageError(
    `-debug is ${JSON.stringify(text)}, expected host:port of the debug port, such as localhost:6070`,
  );
}

/** Reads `key=value,key2=value2`. A value may contain `=`, nothing may contain a comma. */
function parseDescriptor(text: string): Descriptor {
  return {
    entries: text.split(',').map((pair) => {
      const split = pair.indexOf('=');
      if (split > 0) return { key: pair.slice(0, split), value: pair.slice(split + 1) };
      const shown = `${JSON.stringify(pair)} of ${JSON.stringify(text)}`;
      throw new UsageError(`-descriptors: ${shown} is not <key>=<value>`);
    }),
  };
}
