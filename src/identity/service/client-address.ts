import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, isIPv4 } from 'node:net';
import type { Logger } from '../../platform/logger/logger';
import { headerValues } from './bearer';
import { ipv6Network, withoutMapping } from './ip-text';

/** A proxy or a network of proxies: `10.0.0.0/8`, `192.0.2.1`, `fd00::/8`. */
export interface Network {
  readonly address: string;
  /** Undefined: this address alone. */
  readonly prefix: number | undefined;
}

/** One provider hands a customer a /56 or more: whoever has one could use every address of it. */
const IPV6_PREFIX = 56;

/**
 * The address that limits count by. X-Forwarded-For is believed from the right as far as it was written
 * by trusted proxies; an IPv6 address counts as its /56.
 */
export function createClientAddress(trusted: readonly Network[], logger: Logger) {
  const list = new BlockList();
  for (const { address, prefix } of trusted) {
    const family = isIPv4(address) ? 'ipv4' : 'ipv6';
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, prefix, family);
  }
  const isTrusted = (address: string): boolean =>
    list.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');

  let mayWarn = trusted.length === 0;
  /** Once: a caller could write the header to fill the log. */
  const warnOfProxy = (request: IncomingMessage, peer: string): void => {
    if (headerValues(request, 'x-forwarded-for').length === 0) return;
    mayWarn = false;
    logger.warn(
      'X-Forwarded-For is ignored, so that all callers of a proxy share one limit; ' +
        'set IDENTITY_TRUSTED_PROXIES to the address or network of the proxy, if this peer is one',
      { peer },
    );
  };

  return (request: IncomingMessage): string => {
    let address = withoutMapping(request.socket.remoteAddress ?? '');
    if (mayWarn) warnOfProxy(request, address);
    if (trusted.length > 0 && isIP(address) !== 0 && isTrusted(address))
      address = lastUntrusted(address, forwardedFor(request), isTrusted);
    return isIP(address) === 6 ? ipv6Network(address, IPV6_PREFIX) : address;
  };
}

function lastUntrusted(
  peer: string,
  hops: readonly string[],
  isTrusted: (address: string) => boolean,
): string {
  let address = peer;
  for (const hop of hops.toReversed()) {
    const next = withoutMapping(withoutPort(hop));
    // What is no address was written by nobody we trust.
    if (isIP(next) === 0) return address;
    address = next;
    if (!isTrusted(next)) return next;
  }
  return address;
}

function forwardedFor(request: IncomingMessage): readonly string[] {
  return headerValues(request, 'x-forwarded-for')
    .flatMap((value) => value.split(','))
    .map((hop) => hop.trim())
    .filter((hop) => hop !== '');
}

/** `192.0.2.1:4711` and `[2001:db8::1]:4711` as some proxies write them. */
function withoutPort(hop: string): string {
  const [, bracketed, plain] = /^(?:\[(.+)\](?::\d+)?|([\d.]+):\d+)$/.exec(hop) ?? [];
  return bracketed ?? plain ?? hop;
}
