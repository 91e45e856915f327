import { BlockList, isIP, isIPv4 } from 'node:net';

/** A proxy or a network of proxies: `10.0.0.0/8`, `192.0.2.1`, `fd00::/8`. */
export interface Network {
  readonly address: string;
  /** Undefined: only this address. */
  readonly prefix: number | undefined;
}

/** Completes "expected …". */
export const NETWORK_EXPECTED = 'an IP address or a network such as 10.0.0.0/8';

/** An address, or a network in CIDR notation; undefined when the text is neither. */
export function parseNetwork(text: string): Network | undefined {
  const [, ip = '', bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const family = isIP(ip);
  const prefix = bits === undefined ? undefined : Number(bits);
  if (family === 0 || (prefix ?? 0) > (family === 4 ? 32 : 128)) return undefined;
  return { address: ip, prefix };
}

const MAX_KNOWN = 256;

/** The trusted proxies, and the client's address that they report. */
export class ProxyHops {
  readonly #trusted = new BlockList();
  /** Recent lookups: peers are few, and looking one up takes as long as the rest of a call. */
  readonly #known = new Map<string, boolean>();

  constructor(trusted: readonly Network[]) {
    for (const { address, prefix } of trusted) {
      const family = isIPv4(address) ? 'ipv4' : 'ipv6';
      if (prefix === undefined) this.#trusted.addAddress(address, family);
      else this.#trusted.addSubnet(address, prefix, family);
    }
  }

  /** False for a text that is not an address. */
  isTrusted(address: string): boolean {
    const known = this.#known.get(address);
    if (known !== undefined) return known;
    // Clients choose most addresses here: none of theirs may stay for long.
    if (this.#known.size >= MAX_KNOWN) this.#known.clear();
    const isOne = this.#lookUp(address);
    this.#known.set(address, isOne);
    return isOne;
  }

  #lookUp(address: string): boolean {
    const version = isIP(address);
    return version !== 0 && this.#trusted.check(address, version === 4 ? 'ipv4' : 'ipv6');
  }

  /**
   * The last hop that no trusted proxy wrote: X-Forwarded-For is trusted from the right, from a trusted peer, as far as trusted
   * proxies wrote it. They write only addresses, so that anything else ends the trust.
   * @param forwardedFor the values of the header, in their order
   */
  clientOf(peer: string, forwardedFor: readonly string[]): string {
    let address = peer;
    if (!this.isTrusted(peer)) return address;
    for (const hop of fromTheRight(forwardedFor)) {
      const next = withoutMapping(withoutPort(hop));
      if (isIP(next) === 0) return address;
      address = next;
      if (!this.isTrusted(next)) return address;
    }
    return address;
  }
}

/** Reads no more hops than the caller takes: a client may have written a thousand. */
function* fromTheRight(values: readonly string[]): Generator<string, void> {
  for (let at = values.length - 1; at >= 0; at -= 1) {
    const value = values[at] as string;
    let end = value.length;
    while (end >= 0) {
      const comma = end === 0 ? -1 : value.lastIndexOf(',', end - 1);
      const hop = value.slice(comma + 1, end).trim();
      if (hop !== '') yield hop;
      end = comma;
    }
  }
}

/** `192.0.2.1:4711` and `[2001:db8::1]:4711`, as some proxies write them, without the port. */
export function withoutPort(written: string): string {
  const [, bracketed, plain] = /^(?:\[(.+)\](?::\d+)?|([\d.]+):\d+)$/.exec(written) ?? [];
  return bracketed ?? plain ?? written;
}

/** An IPv4 address from an IPv6 socket (`::ffff:192.0.2.1`) without the mapping; no zone. */
export function withoutMapping(address: string): string {
  if (!address.includes(':')) return address;
  const [plain = ''] = address.split('%');
  return plain.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, '');
}
