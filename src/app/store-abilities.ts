import type { StoreAbilities } from '../core/rules/parse/store-abilities';
import type { Settings } from '../settings/settings';

/** What the store of these settings can count by. */
export function storeAbilities({
  store,
  memstore,
}: Pick<Settings, 'store' | 'memstore'>): StoreAbilities {
  if (memstore !== undefined) return { kind: 'memstore', scripts: false };
  if (store === undefined) return { kind: 'memory', scripts: false };
  return { kind: 'kvstore', scripts: store.scripts };
}
