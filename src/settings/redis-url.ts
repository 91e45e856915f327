import { type Address, parseAddress } from '../platform/env-table/addresses';
import type { Credentials } from '../platform/env-table/credentials';

export interface RedisUrl {
  readonly address: Address;
  readonly auth: Credentials | undefined;
  /** `rediss://` speaks TLS. */
  readonly tls: boolean;
}

const REDIS_URL = /^redis(s?):\/\/(?:([^@]*)@)?([^/?#]+)(?:\/0?)?$/;
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

/**
 * `redis://[[<user>]:<password>@]<host>[:<port>][/0]`, the form that today's deployments may use in place
 * of `<host>:<port>`. Undefined when it is not; counters live in database 0 only.
 */
export function parseRedisUrl(url: string): RedisUrl | undefined {
  const match = REDIS_URL.exec(url);
  if (match === null) return undefined;
  const [, secure, userInfo, place = ''] = match;
  const hasPort = /:\d+$/.test(place.replace(/^\[.*\]/, ''));
  const address = parseAddress(hasPort ? place : `${place}:${String(DEFAULT_PORT)}`);
  const auth = userInfo === undefined ? undefined : parseUserInfo(userInfo);
  if (address === undefined || (userInfo !== undefined && auth === undefined)) return undefined;
  return { address, auth, tls: secure === 's' };
}
