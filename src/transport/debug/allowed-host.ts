import { isIP } from 'node:net';

const HOST = /^(\[[^\]]*\]|[^:]*)(?::[0-9]*)?$/;

/**
 * Decides which Host headers are served on a port without credentials. A web page can make its own name resolve to this port (DNS
 * rebinding) and read the answers; it cannot do so with an address, `localhost`, or a name of one label, which no public DNS
 * serves. `further` names are allowed too, in any case, without a port. A missing header (HTTP/1.0) counts as a foreign one.
 */
export function createHostCheck(further: readonly string[]): (host: string | undefined) => boolean {
  const allowed = new Set(further.map((name) => name.toLowerCase()));
  return (host = '') => {
    const [, bracketed = ''] = HOST.exec(host) ?? [];
    const name = bracketed.replace(/^\[(.*)\]$/, '$1').toLowerCase();
    if (name === '') return false;
    return isIP(name) !== 0 || !name.includes('.') || allowed.has(name);
  };
}
