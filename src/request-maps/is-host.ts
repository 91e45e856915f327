import { isIPv6 } from 'node:net';

const ADDRESS = /^\[([^\]]*)\](?::\d*)?$/;
/** Letters of a name in a URI (RFC 3986 §3.2.2) but the comma, with which proxies join two headers. */
const LABEL = "[\\w~!$&'()*+;=%-]+";
const NAME = new RegExp(`^${LABEL}(?:\\.${LABEL})*\\.?(?::\\d*)?$`);

/**
 * Whether a `Host` is one host: a name, or an IPv6 address in brackets, and perhaps a port. `user@host`, `host..` and `a,b` would be
 * read in several ways, each with a counter of its own.
 */
export function isHost(text: string): boolean {
  const [, address] = ADDRESS.exec(text) ?? [];
  return address === undefined ? NAME.test(text) : isIPv6(address);
}
