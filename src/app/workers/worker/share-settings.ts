import type { Settings } from '../../../settings/settings';
import type { StoreSettings } from '../../../settings/store';

/** Less is of no use to one process. */
const LEAST_BYTES = 1_048_576;

/** The settings of one of `count` workers: what an operator gives to the whole service is divided among them. */
export function shareSettings(settings: Settings, count: number): Settings {
  const { bounds, decisions, decisionLog, store, perSecondStore, memory, storeFailure } = settings;
  const { leases } = settings;
  const share = (whole: number, least = 1): number =>
    whole === 0 ? 0 : Math.max(Math.floor(whole / count), least);
  const ofStore = <S extends StoreSettings | undefined>(whole: S): S =>
    whole && { ...whole, pool: { ...whole.pool, size: share(whole.pool.size) } };
  return {
    ...settings,
    bounds: {
      ...bounds,
      maxHeldBytes: share(bounds.maxHeldBytes, LEAST_BYTES),
      maxConnections: Math.ceil(bounds.maxConnections / count),
    },
    decisions: { ...decisions, localCacheSizeBytes: share(decisions.localCacheSizeBytes) },
    decisionLog: { ...decisionLog, maxPerSecond: share(decisionLog.maxPerSecond) },
    store: ofStore(store),
    perSecondStore: ofStore(perSecondStore),
    memory: {
      maxKeys: share(memory.maxKeys),
      // Unset, each has what its own heap allows.
      maxBytes: memory.maxBytes === undefined ? undefined : share(memory.maxBytes, LEAST_BYTES),
    },
    leases: { ...leases, maxBytes: share(leases.maxBytes) },
    // Each counts for itself while the store is away: as if there were so many instances more.
    storeFailure: { ...storeFailure, replicas: storeFailure.replicas * count },
  };
}
