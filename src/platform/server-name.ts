import { isIP } from 'node:net';

/**
 * The TLS option that names the wanted host (SNI), so that several servers can share one address. Node sends none by
 * itself, and an IP address must not be sent.
 */
export function serverNameOf(host: string): { readonly servername?: string } {
  return isIP(host) === 0 ? { servername: host } : {};
}

/**
 * Keeps Node from printing DEP0123, the warning that a TLS connection was asked to name an IP address: gRPC's library
 * does so for every target that is one, and there is nothing an operator could do. Other warnings are printed as ever.
 */
export function hushServerNameWarning(process: NodeJS.Process): void {
  const printers = process.listeners('warning');
  process.removeAllListeners('warning');
  process.on('warning', (warning: Error & { readonly code?: string }) => {
    if (warning.code === 'DEP0123') return;
    for (const print of printers) print.call(process, warning);
  });
}
