import { isIP } from 'node:net';

/**
 * The TLS option for the requested host (SNI), so that several servers can share one address. Node sends none by itself, and an IP
 * address must not be sent.
 */
export function serverNameOf(host: string): { readonly servername?: string } {
  return isIP(host) === 0 ? { servername: host } : {};
}

/**
 * Suppresses DEP0123, Node's warning about a TLS connection to an IP address as server name: gRPC's library causes it for every
 * such target, and an operator can do nothing about it. Other warnings are still printed.
 */
export function hushServerNameWarning(process: NodeJS.Process): void {
  const printers = process.listeners('warning');
  process.removeAllListeners('warning');
  process.on('warning', (warning: Error & { readonly code?: string }) => {
    if (warning.code === 'DEP0123') return;
    for (const print of printers) print.call(process, warning);
  });
}
