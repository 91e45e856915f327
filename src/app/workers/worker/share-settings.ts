import type { Settings } from '../../../settings/settings';
import type { StoreSettings } from '../../../settings/kvstore';

/** Less is useless for one process. */
const LEAST_BYTES = 1_048_576;

/** The settings of one of `count` workers: amounts for the whole service are divided among them. */
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
      // Unset: each has the default for its own heap.
      maxBytes: memory.maxBytes === undefined ? undefined : share(memory.maxBytes, LEAST_BYTES),
    },
    leases: { ...leases, maxBytes: share(leases.maxBytes) },
    // Each counts alone while the store is unreachable: as if there were that many more instances.
    storeFailure: { ...storeFailure, failureReplicas: storeFailure.failureReplicas * count },
  };
}
