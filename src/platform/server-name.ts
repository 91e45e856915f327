import { isIP } from 'node:net';

/**
 * The TLS option that names the wanted host (SNI), so that several servers can share one address. Node sends none by
 * itself, and an IP address must not be sent.
 */
export function serverNameOf(host: string): { readonly servername?: string } {
  return isIP(host) === 0 ? { servername: host } : {};
}
