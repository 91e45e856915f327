import { type Address, parseAddress } from '../platform/env-table/addresses';
import { parseRedisUrl } from './redis-url';

export type StoreType = 'single' | 'sentinel' | 'cluster';
export type SocketType = 'tcp' | 'unix';

/** Where a key-value store is. */
export type StoreAddress =
  | ({ readonly kind: 'tcp' } & Address)
  | { readonly kind: 'unix'; readonly path: string }
  | {
      readonly kind: 'sentinel';
      readonly masterName: string;
      readonly sentinels: readonly Address[];
    }
  | { readonly kind: 'cluster'; readonly nodes: readonly Address[] };

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

function parseSingle(url: string, socket: SocketType | undefined): StoreAddress | undefined {
  const isPath = /^(?:unix:|[./])/.test(url);
  if (socket === 'unix' || (socket === undefined && isPath)) {
    const path = url.replace(/^unix:(?:\/\/)?/, '');
    return path === '' || path.includes('\0') ? undefined : { kind: 'unix', path };
  }
  const address = parseAddress(url) ?? parseRedisUrl(url)?.address;
  return address && { kind: 'tcp', ...address };
}

/**
 * The address in a URL setting; without a socket type the URL decides: a path is a unix socket,
 * `<host>:<port>` is TCP (behaviour.md §1.4). Undefined when it is not what `expectedAddress` says.
 */
export function parseStoreAddress(
  url: string,
  type: StoreType,
  socket: SocketType | undefined,
): StoreAddress | undefined {
  if (type === 'single') return parseSingle(url, socket);
  const parts = url.split(',').map((part) => part.trim());
  if (type === 'cluster') {
    const nodes = parseAddresses(parts);
    return nodes && { kind: 'cluster', nodes };
  }
  const [masterName = '', ...rest] = parts;
  const sentinels = parseAddresses(rest);
  return masterName === '' || sentinels === undefined
    ? undefined
    : { kind: 'sentinel', masterName, sentinels };
}
