import type { Settings } from '../../settings/settings';
import type { StoreSettings } from '../../settings/store';

/** Milliseconds for which requests are gathered into a batch: the shorter window of the two stores. */
export function batchWindowMs({ store, perSecondStore }: Settings): number {
  return Math.min(store?.pipelineWindowMs ?? 0, perSecondStore?.pipelineWindowMs ?? Infinity);
}

/** The rest of a store's own window, for batches that were gathered already. */
export function restOfWindowMs(store: StoreSettings, settings: Settings): number {
  return store.pipelineWindowMs - batchWindowMs(settings);
}
