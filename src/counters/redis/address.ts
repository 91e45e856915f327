/** Where a Redis server listens. */
export type RedisAddress =
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number }
  | { readonly kind: 'unix'; readonly path: string };

/** Who we are to a Redis server; without a name its default user. */
export interface RedisAuth {
  readonly username: string | undefined;
  readonly password: string;
}

/** The address as it stands in messages. */
export function toAddressText(address: RedisAddress): string {
  if (address.kind === 'unix') return address.path;
  const host = address.host.includes(':') ? `[${address.host}]` : address.host;
  return `${host}:${String(address.port)}`;
}
