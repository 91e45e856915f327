/** Where to listen: a TCP address (port 0: any free one) or the path of a Unix socket. */
export type ListenAddress =
  { readonly host: string; readonly port: number } | { readonly path: string };

export function addressText(address: ListenAddress): string {
  if ('path' in address) return `unix:${address.path}`;
  const host = address.host.includes(':') ? `[${address.host}]` : address.host;
  return `${host}:${String(address.port)}`;
}

/** What `listen` rejects with. */
export function cannotListen(address: ListenAddress, cause: Error): Error {
  return new Error(`cannot listen on ${addressText(address)}: ${cause.message}`, { cause });
}
