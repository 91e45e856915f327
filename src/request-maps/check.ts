import { ProxyHops, NETWORK_EXPECTED, parseNetwork, type Network } from '../platform/proxy-hops';
import {
  type MapDescriptor,
  type RequestField,
  readMapDescriptors,
  MapFields,
  REQUEST_FIELDS,
} from './request-map';
import type { PathStyle } from './request-uri';
import type { RequestBounds } from '../core/decision/request';
import { quote, type Located } from '../fields/located';
import type { RuleSource } from '../core/rules/parse/parse-rule-files';
import { byPlace, isError, type RuleProblem } from '../fields/problem';
import { createReport } from '../fields/report';

/** One configuration of `/check`: how an HTTP call becomes a request, and how it is answered (docs/proxies/README.md). */
export interface Check {
  readonly domain: string;
  /** Undefined: no proxy, so that the peer is the client. */
  readonly proxy: ProxyName | undefined;
  /** The trusted proxies. */
  readonly hops: ProxyHops;
  readonly deniedStatus: number;
  /** The status of a call with a value too long for a pattern. */
  readonly tooLongStatus: number;
  /** The answer to a call without a decision. */
  readonly onError: 'allow' | 'deny';
  /** Answers name rules by their metric keys. */
  readonly showRule: boolean;
  /** The header with the number of hits of a call; undefined: one. */
  readonly hitsHeader: string | undefined;
  readonly descriptors: readonly MapDescriptor[];
  /** The headers without which the proxy is not set up as this check needs it. */
  readonly neededHeaders: readonly string[];
  /** Whether the map reads the host, without which a call makes no descriptor of it. */
  readonly needsHost: boolean;
  /** Whether the map reads the header Host by its name. */
  readonly readsHostHeader: boolean;
}

/** All current checks, by their names; that of a single file has the name ''. */
export interface CheckSet {
  readonly checks: ReadonlyMap<string, Check>;
  readonly from: CheckSources;
}

export interface CheckSources {
  readonly files: readonly CheckSource[];
  /** CHECK_CONFIG is a directory, so that each check has the name of its file. */
  readonly isDirectory: boolean;
}

export interface CheckSource {
  readonly file: string;
  readonly bytes: Uint8Array;
}

export const PROXIES = ['nginx', 'ingress-nginx', 'traefik', 'caddy'] as const;

export type ProxyName = (typeof PROXIES)[number];

/** The header in which a proxy sends each field; undefined: it does not. */
export type ProxyWords = Readonly<Record<RequestField, string | undefined>>;

const FORWARD_AUTH: ProxyWords = {
  method: 'x-forwarded-method',
  path: 'x-forwarded-uri',
  query: 'x-forwarded-uri',
  host: 'x-forwarded-host',
  scheme: 'x-forwarded-proto',
  remote_address: 'x-forwarded-for',
};

/**
 * Exactly the headers that each proxy always writes (docs/proxies/README.md): each proxy forwards a client's headers with the names of the
 * others.
 */
export const WORDS: Readonly<Record<ProxyName, ProxyWords>> = {
  nginx: {
    method: 'x-original-method',
    path: 'x-original-uri',
    query: 'x-original-uri',
    host: 'host',
    scheme: undefined,
    remote_address: 'x-real-ip',
  },
  'ingress-nginx': {
    method: 'x-original-method',
    path: 'x-original-url',
    query: 'x-original-url',
    host: 'x-original-url',
    scheme: 'x-original-url',
    remote_address: 'x-real-ip',
  },
  traefik: FORWARD_AUTH,
  caddy: FORWARD_AUTH,
};

/** How each proxy compares paths. */
export const STYLES: Readonly<Record<ProxyName, PathStyle>> = {
  nginx: 'exact',
  'ingress-nginx': 'exact',
  traefik: 'exact',
  caddy: 'caddy',
};

const KEYS = [
  'domain',
  'proxy',
  'trusted_proxies',
  'denied_status',
  'too_long_status',
  'on_error',
  'show_rule',
  'hits',
  'descriptors',
];

/**
 * Reads one file of CHECK_CONFIG, undefined where it has a mistake, with all mistakes and remarks in the order of the file. A
 * descriptor that the bounds of requests would always refuse is a mistake.
 */
export function parseCheck({ file, root, problems }: RuleSource, bounds: RequestBounds) {
  const found: RuleProblem[] = [...problems];
  const check = found.some(isError)
    ? undefined
    : readCheck(root, bounds, createReport(file, found));
  return { check: found.some(isError) ? undefined : check, problems: found.sort(byPlace) };
}

function readCheck(
  root: Located | undefined,
  bounds: RequestBounds,
  report: ReturnType<typeof createReport>,
): Check | undefined {
  if (root?.kind !== 'map') {
    const at = root?.at ?? { line: 1, column: 1 };
    report.error(at, 'wrong-type', 'expected a map with domain and descriptors');
    return undefined;
  }
  const map = new MapFields(root, 'in a check', KEYS, report);
  const proxy = map.oneOf('proxy', PROXIES);
  const names = { fields: REQUEST_FIELDS, headers: undefined, caseless: caselessOf(proxy) };
  const descriptors = readMapDescriptors(map, names);
  checkBounds(map, descriptors, bounds);
  refuseReservations(map, descriptors);
  warnOfClientHeaders(map, descriptors);
  return {
    domain: map.text('domain') ?? '',
    proxy,
    hops: new ProxyHops(readTrusted(map, proxy)),
    deniedStatus: readStatus(map, 'denied_status', 429),
    tooLongStatus: readStatus(map, 'too_long_status', 414),
    onError: map.oneOf('on_error', ['allow', 'deny']) ?? 'allow',
    showRule: map.flag('show_rule'),
    hitsHeader: map.has('hits') ? readHits(map) : undefined,
    descriptors,
    neededHeaders: proxy === undefined ? [] : headersFor(proxy, descriptors),
    needsHost: fieldsOf(descriptors).includes('host'),
    readsHostHeader: headersOf(descriptors).includes('host'),
  };
}

function readStatus(map: MapFields, name: string, standard: number): number {
  return map.whole(name, { least: 400, most: 599 }, 'bad-map') ?? standard;
}

function caselessOf(proxy: ProxyName | undefined): readonly RequestField[] {
  return proxy !== undefined && STYLES[proxy] === 'caddy' ? ['path'] : [];
}

function readHits(map: MapFields): string | undefined {
  return map.fieldsOf('hits', 'in hits', ['header'])?.text('header')?.toLowerCase();
}

/** Required with a proxy, and useless without one. */
function readTrusted(map: MapFields, proxy: ProxyName | undefined): readonly Network[] {
  const node = map.given('trusted_proxies');
  const items = node?.kind === 'list' ? node.items : [];
  if (node !== undefined && !map.has('proxy'))
    map.refuse('trusted_proxies', `trusted_proxies needs proxy, one of ${PROXIES.join(', ')}`);
  if (items.length === 0 && (proxy !== undefined || node !== undefined)) {
    const expected = 'a list of the addresses or networks of the proxy, such as 10.0.0.0/8';
    map.refuse('trusted_proxies', `trusted_proxies must be ${expected}`);
  }
  return items.flatMap((item) => {
    const text = item.kind === 'scalar' ? item.text : '';
    const network = parseNetwork(text);
    if (network !== undefined) return [network];
    const message = `trusted_proxies has ${quote(text)}, expected ${NETWORK_EXPECTED}`;
    map.report.error(item.at, 'bad-map', message);
    return [];
  });
}

function headersFor(proxy: ProxyName, descriptors: readonly MapDescriptor[]): readonly string[] {
  const headers = fieldsOf(descriptors).map((field) => WORDS[proxy][field]);
  return [...new Set(headers.filter((header) => header !== undefined))];
}

function fieldsOf(descriptors: readonly MapDescriptor[]): readonly RequestField[] {
  const used = descriptors.flatMap(({ when, entries }) => [
    when?.field,
    ...entries.map(({ source }) => {
      if (source.kind === 'parameter') return 'query';
      return 'field' in source ? source.field : undefined;
    }),
  ]);
  return REQUEST_FIELDS.filter((field) => used.includes(field));
}

function checkBounds(
  map: MapFields,
  descriptors: readonly MapDescriptor[],
  { maxDescriptors, maxEntries, maxNameBytes }: RequestBounds,
): void {
  const refuse = (what: string, name: string, bound: number): void => {
    map.refuse('descriptors', `${what} than ${name} (${String(bound)})`);
  };
  if (descriptors.length > maxDescriptors)
    refuse('there are more descriptors', 'MAX_DESCRIPTORS', maxDescriptors);
  if (descriptors.some(({ entries }) => entries.length > maxEntries))
    refuse('a descriptor has more entries', 'MAX_DESCRIPTOR_ENTRIES', maxEntries);
  const keys = descriptors.flatMap(({ entries }) => entries.map(({ key }) => key));
  if (keys.some((key) => Buffer.byteLength(key) > maxNameBytes))
    refuse('a key has more bytes', 'MAX_NAME_BYTES', maxNameBytes);
}

/** A reservation of a check would never be settled. */
function refuseReservations(map: MapFields, descriptors: readonly MapDescriptor[]): void {
  for (const { entries } of descriptors) {
    const key = entries.at(-1)?.key;
    if (key !== 'reserve' && key !== 'settle') continue;
    const message = `a descriptor ends in ${key}: proxies make no second call, so checks cannot reserve`;
    map.refuse('descriptors', message);
  }
}

/** The plain headers that a map reads. */
function headersOf(descriptors: readonly MapDescriptor[]): readonly string[] {
  return descriptors.flatMap(({ entries }) =>
    entries.flatMap(({ source }) => (source.kind === 'header' ? [source.name] : [])),
  );
}

const FORWARDED = new Set<string | undefined>(
  Object.values(WORDS).flatMap((words) => Object.values(words)),
);
FORWARDED.delete('host');

/** Plain headers with these names are the client's. */
function warnOfClientHeaders(map: MapFields, descriptors: readonly MapDescriptor[]): void {
  for (const name of new Set(headersOf(descriptors))) {
    if (!FORWARDED.has(name)) continue;
    const message = `clients can write the header ${quote(name)}: take a field in its place, such as path or remote_address`;
    map.warning('descriptors', 'client-header', message);
  }
}
