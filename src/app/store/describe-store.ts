import { addressText } from '../../platform/listen-address';
import { type NodeList } from '../../counters/memcached/options';
import { toAddressText } from '../../counters/redis/options';
import type { Settings } from '../../settings/settings';
import type { StoreSettings } from '../../settings/kvstore';

/** Component names in the health check. */
export const STORE = 'store';
export const PER_SECOND_STORE = 'per-second store';

/** The names of the stores in the settings, as in the health check, and one line for the start. */
export function describeStores({ store, perSecondStore, memstore }: Settings) {
  if (memstore !== undefined)
    return { names: [STORE], description: describeMemcached(memstore.nodes) };
  if (store === undefined) return { names: [], description: 'memory' };
  const others = describeRedis(store);
  if (perSecondStore === undefined) return { names: [STORE], description: others };
  const perSecond = describeRedis(perSecondStore);
  return { names: [STORE, PER_SECOND_STORE], description: describeSplit(others, perSecond) };
}

export function describeRedis({ address, database }: StoreSettings): string {
  const inDatabase = database === 0 ? '' : `, database ${String(database)}`;
  return `Redis at ${toAddressText(address)}${inDatabase}`;
}

export function describeMemcached(nodes: NodeList): string {
  const text = nodes.kind === 'srv' ? nodes.record : nodes.addresses.map(addressText).join(',');
  return `memcached at ${text}`;
}

export function describeSplit(others: string, perSecond: string): string {
  return `${others}, limits per second in ${perSecond}`;
}

/** A value for each store, by name. */
export function byName(
  all: readonly (readonly [name: string, text: string | undefined])[],
): ReadonlyMap<string, string> {
  return new Map(all.filter((one): one is readonly [string, string] => one[1] !== undefined));
}
