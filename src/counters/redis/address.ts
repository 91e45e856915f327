/** A TCP address. */
export interface HostAndPort {
  readonly host: string;
  readonly port: number;
}

/** Where one Redis server listens. */
export type RedisAddress =
  ({ readonly kind: 'tcp' } & HostAndPort) | { readonly kind: 'unix'; readonly path: string };

/** Where a store is: one server, the master that sentinels name, or the nodes of a cluster. */
export type RedisStoreAddress =
  | RedisAddress
  | {
      readonly kind: 'sentinel';
      readonly masterName: string;
      readonly sentinels: readonly HostAndPort[];
    }
  | { readonly kind: 'cluster'; readonly nodes: readonly HostAndPort[] };

/** The address as it stands in messages. */
export function toAddressText(address: RedisStoreAddress): string {
  switch (address.kind) {
    case 'unix':
      return address.path;
    case 'tcp':
      return toHostText(address);
    case 'sentinel':
      return `master ${address.masterName} of the sentinels ${toListText(address.sentinels)}`;
    case 'cluster':
      return `cluster ${toListText(address.nodes)}`;
  }
}

function toListText(addresses: readonly HostAndPort[]): string {
  return addresses.map(toHostText).join(',');
}

function toHostText({ host, port }: HostAndPort): string {
  return `${host.includes(':') ? `[${host}]` : host}:${String(port)}`;
}
