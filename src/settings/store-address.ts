import { type Address, parseAddress, type StoreAddress } from '../platform/env-table/addresses';
import type { Credentials } from '../platform/credentials-source';

const REDIS_URL = /^redis(s?):\/\/(?:([^@]*)@)?([^/?#]+)(.*)$/;
const DEFAULT_PORT = 6379;

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** `<user>:<password>`, `:<password>`; undefined when it is neither. */
function parseUserInfo(text: string): Credentials | undefined {
  const at = text.indexOf(':');
  const username = decode(text.slice(0, Math.max(at, 0)));
  const password = decode(text.slice(at + 1));
  if (at < 0 || username === undefined || !password) return undefined;
  return { username: username === '' ? undefined : username, password };
}

const DATABASE = /^\/?(?:(?<=\/)(\d{1,9}))?(?:\?db=(\d{1,9}))?$/;

/** The database in the suffix of an address, `/11` or `?db=11`; 0 for none, undefined for anything else. */
export function parseDatabase(end: string): number | undefined {
  const match = DATABASE.exec(end);
  if (match === null) return undefined;
  const [, path, query] = match;
  if (path !== undefined && query !== undefined && Number(path) !== Number(query)) return undefined;
  return Number(path ?? query ?? 0);
}

/**
 * `redis://[[<user>]:<password>@]<host>[:<port>][/<database>][?db=<database>]`, the form that today's deployments may use in place
 * of `<host>:<port>`; `rediss://` uses TLS. Undefined when it is something else.
 */
export function parseRedisUrl(url: string) {
  const match = REDIS_URL.exec(url);
  if (match === null) return undefined;
  const [, secure, userInfo, place = '', end = ''] = match;
  const database = parseDatabase(end);
  const hasPort = /:\d+$/.test(place.replace(/^\[.*\]/, ''));
  const address = parseAddress(hasPort ? place : `${place}:${String(DEFAULT_PORT)}`);
  const auth = userInfo === undefined ? undefined : parseUserInfo(userInfo);
  if (address === undefined || database === undefined) return undefined;
  if (userInfo !== undefined && auth === undefined) return undefined;
  return { address, auth, tls: secure === 's', database };
}

export type StoreType = 'single' | 'sentinel' | 'cluster';
export type SocketType = 'tcp' | 'unix';

/** An address and the database on the server; a cluster only has 0. */
export interface StorePlace {
  readonly address: StoreAddress;
  readonly database: number;
}

const TCP = '<host>:<port>';
const PATH = 'the path of a unix socket';

/** Completes the sentence "expected …" for an address of this kind. */
export function expectedAddress(type: StoreType, socket: SocketType | undefined): string {
  if (type === 'sentinel') return `<master name>,${TCP} with one sentinel or more`;
  if (type === 'cluster') return `${TCP},${TCP} of the nodes`;
  if (socket === undefined) return `${TCP} or ${PATH}`;
  return socket === 'tcp' ? TCP : PATH;
}

function parseAddresses(texts: readonly string[]): readonly Address[] | undefined {
  const addresses = texts.map(parseAddress);
  return addresses.length === 0 || addresses.includes(undefined)
    ? undefined
    : (addresses as Address[]);
}

function parseSingle(url: string, socket: SocketType | undefined): StorePlace | undefined {
  const isPath = /^(?:unix:|[./])/.test(url);
  if (socket === 'unix' || (socket === undefined && isPath)) {
    const path = url.replace(/^unix:(?:\/\/)?/, '');
    if (path === '' || path.includes('\0')) return undefined;
    return { address: { kind: 'unix', path }, database: 0 };
  }
  const plain = parseAddress(url);
  if (plain !== undefined) return { address: { kind: 'tcp', ...plain }, database: 0 };
  const found = parseRedisUrl(url);
  return found && { address: { kind: 'tcp', ...found.address }, database: found.database };
}

/** The database belongs to the master: `<master name>/11,…` or `<master name>?db=11,…`. */
function parseSentinel([master = '', ...rest]: readonly string[]): StorePlace | undefined {
  const [, masterName = '', end = ''] = /^([^/?]*)(.*)$/s.exec(master) ?? [];
  const sentinels = parseAddresses(rest);
  const database = parseDatabase(end);
  if (masterName === '' || sentinels === undefined || database === undefined) return undefined;
  return { address: { kind: 'sentinel', masterName, sentinels }, database };
}

/** Whether the addresses of a cluster's nodes name a database, which a cluster lacks. */
export function namesDatabase(url: string): boolean {
  return url.split(',').some((part) => /(?:\/|[?&]db=)0*[1-9]\d*$/.test(part.trim()));
}

/**
 * The address in a URL setting; without a socket type the URL decides: a path is a unix socket, `<host>:<port>` is TCP
 * (behaviour.md §1.4). Undefined when it does not match `expectedAddress`.
 */
export function parseStoreAddress(
  url: string,
  type: StoreType,
  socket: SocketType | undefined,
): StorePlace | undefined {
  if (type === 'single') return parseSingle(url, socket);
  const parts = url.split(',').map((part) => part.trim());
  if (type === 'cluster') {
    const nodes = parseAddresses(parts);
    return nodes && { address: { kind: 'cluster', nodes }, database: 0 };
  }
  return parseSentinel(parts);
}
