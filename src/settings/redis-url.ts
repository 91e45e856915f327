import { type Address, parseAddress } from '../platform/env-table/addresses';
import type { Credentials } from '../platform/env-table/credentials';

export interface RedisUrl {
  readonly address: Address;
  readonly auth: Credentials | undefined;
  /** `rediss://` speaks TLS. */
  readonly tls: boolean;
  readonly database: number;
}

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

/** The database that the end of an address names, `/11` or `?db=11`; 0 for none, undefined for anything else. */
export function parseDatabase(end: string): number | undefined {
  const match = DATABASE.exec(end);
  if (match === null) return undefined;
  const [, path, query] = match;
  if (path !== undefined && query !== undefined && Number(path) !== Number(query)) return undefined;
  return Number(path ?? query ?? 0);
}

/**
 * `redis://[[<user>]:<password>@]<host>[:<port>][/<database>][?db=<database>]`, the form that today's
 * deployments may use in place of `<host>:<port>`. Undefined when it is not.
 */
export function parseRedisUrl(url: string): RedisUrl | undefined {
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
