import { UsageError } from '../platform/errors';
import type { FlagValues } from '../platform/flags';
import { FLAGS, readFlags } from './flags';

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
