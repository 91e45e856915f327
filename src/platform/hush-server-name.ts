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
