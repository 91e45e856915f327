import { isIP } from 'node:net';

/**
 * The option of a TLS connection that tells the other side which host is wanted. Node tells none by itself; servers
 * behind one address are told apart by it. An IP address is no name.
 */
export function serverNameOf(host: string): { readonly servername?: string } {
  return isIP(host) === 0 ? { servername: host } : {};
}
