import type { Settings } from '../settings/settings';
import type { StoreSettings } from '../settings/store';

/** Milliseconds for which requests are gathered before anything is asked: the shorter window of the two stores. */
export function gatheringMs({ store, perSecondStore }: Settings): number {
  return Math.min(store?.pipelineWindowMs ?? 0, perSecondStore?.pipelineWindowMs ?? Infinity);
}

/** What is left of a store's own window when requests come to it gathered. */
export function restOfWindowMs(store: StoreSettings, settings: Settings): number {
  return store.pipelineWindowMs - gatheringMs(settings);
}
