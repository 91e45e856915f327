import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import type { Logger } from '../../platform/logger';
import { ProxyHops, withoutMapping, type Network } from '../../platform/proxy-hops';
import { headerValues } from './bearer';

/** A provider hands a customer a /56 or more: its owner can use every address of it. */
const IPV6_PREFIX = 56;

/**
 * The address for limits. X-Forwarded-For is trusted from the right as far as trusted proxies wrote it; an IPv6 address counts as
 * its /56.
 */
export function createClientAddress(trusted: readonly Network[], logger: Logger) {
  const hops = new ProxyHops(trusted);
  let mayWarn = trusted.length === 0;
  /** Called once: a client could write the header to fill the log. */
  const warnOfProxy = (request: IncomingMessage, peer: string): void => {
    if (headerValues(request, 'x-forwarded-for').length === 0) return;
    mayWarn = false;
    logger.warn(
      'X-Forwarded-For is ignored, so all callers behind a proxy share one limit; ' +
        'set IDENTITY_TRUSTED_PROXIES to the address or network of the proxy, if this peer is one',
      { peer },
    );
  };

  return (request: IncomingMessage): string => {
    const peer = withoutMapping(request.socket.remoteAddress ?? '');
    if (mayWarn) warnOfProxy(request, peer);
    const address =
      trusted.length === 0 ? peer : hops.clientOf(peer, headerValues(request, 'x-forwarded-for'));
    return isIP(address) === 6 ? ipv6Network(address, IPV6_PREFIX) : address;
  };
}

const GROUPS = 8;
const GROUP_BITS = 16;

/** The network of a valid IPv6 address, always written in the same way: `2001:db8:0:ff00::/56`. */
export function ipv6Network(address: string, prefix: number): string {
  const kept = toGroups(address).map((group, index) => {
    const bits = Math.min(Math.max(prefix - index * GROUP_BITS, 0), GROUP_BITS);
    return group & (0xffff << (GROUP_BITS - bits)) & 0xffff;
  });
  const used = kept.slice(0, Math.ceil(prefix / GROUP_BITS));
  return `${used.map((group) => group.toString(16)).join(':')}::/${String(prefix)}`;
}

function toGroups(address: string): readonly number[] {
  const [head = '', tail] = toHexOnly(address).split('::');
  const first = parseGroups(head);
  const last = parseGroups(tail ?? '');
  const gap = Array.from({ length: GROUPS - first.length - last.length }, () => 0);
  return [...first, ...gap, ...last];
}

function parseGroups(text: string): readonly number[] {
  return text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));
}

/** The last 32 bits may be written as an IPv4 address. */
function toHexOnly(address: string): string {
  return address.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, ...bytes: string[]) => {
    const [a = 0, b = 0, c = 0, d = 0] = bytes.slice(0, 4).map(Number);
    return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
  });
}
