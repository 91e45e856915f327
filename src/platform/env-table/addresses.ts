import { isIPv6 } from 'node:net';
import { wholeNumber } from './parsers';
import type { Parser } from './table';

export interface Address {
  /** A name or an IP address, without brackets. */
  readonly host: string;
  readonly port: number;
}

export type StoreAddress =
  | ({ readonly kind: 'tcp' } & Address)
  | { readonly kind: 'unix'; readonly path: string }
  | {
      readonly kind: 'sentinel';
      readonly masterName: string;
      readonly sentinels: readonly Address[];
    }
  | { readonly kind: 'cluster'; readonly nodes: readonly Address[] };

const MAX_PORT = 65_535;
const HOST_AND_PORT = /^(.*):(\d{1,5})$/;

function parseHost(text: string): string | undefined {
  const bare = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text;
  if (isIPv6(bare)) return bare;
  return bare === text && /^[^\s/:@[\],]+$/.test(text) ? text : undefined;
}

function parsePort(text: string, min: number): number | undefined {
  const number = /^\d{1,5}$/.test(text) ? Number(text) : -1;
  return number >= min && number <= MAX_PORT ? number : undefined;
}

/** `<host>:<port>` with an IPv6 address in brackets; no host means this machine, as in Go's dialer. */
export function parseAddress(text: string): Address | undefined {
  const [, hostText = '', portText = ''] = HOST_AND_PORT.exec(text) ?? [];
  const host = hostText === '' ? 'localhost' : parseHost(hostText);
  const number = parsePort(portText, 1);
  if (host === undefined || number === undefined) return undefined;
  return isIPv6(host) && !hostText.startsWith('[') ? undefined : { host, port: number };
}

/** A name or an IP address, an IPv6 address with or without brackets. */
export const host: Parser<string> = { expected: 'a host name or an IP address', parse: parseHost };

/** A port by itself is a whole number, as in envoyproxy/ratelimit; within an address it has digits alone. */
function port(min: number): Parser<number> {
  return {
    ...wholeNumber(min, MAX_PORT),
    expected: `a port from ${String(min)} to ${String(MAX_PORT)}`,
  };
}

/** A port to listen on; 0 lets the system choose. */
export const listenPort = port(0);

export const remotePort = port(1);

/** An address to connect to. */
export const address: Parser<Address> = { expected: '<host>:<port>', parse: parseAddress };

/** An address to listen on; host undefined (`:9090`) means every address of this machine. */
export const listenAddress: Parser<{ readonly host: string | undefined; readonly port: number }> = {
  expected: '<host>:<port> or :<port>',
  parse: (text) => {
    const [, hostText, portText = ''] = HOST_AND_PORT.exec(text) ?? [];
    const number = parsePort(portText, 0);
    if (hostText === undefined || number === undefined) return undefined;
    if (hostText === '') return { host: undefined, port: number };
    const name = parseHost(hostText);
    return name === undefined ? undefined : { host: name, port: number };
  },
};
