import type { Settings } from '../settings/settings';

/** The counter store that knows fixed windows alone, for messages; undefined when it knows all algorithms. */
export function plainStoreOf({ memstore, store, perSecondStore }: Settings): string | undefined {
  if (memstore !== undefined) return 'memcached';
  const isWithoutScripts = [store, perSecondStore].some((one) => one?.scripts === false);
  return isWithoutScripts ? 'Redis without scripts (KVSTORE_SCRIPTS=false)' : undefined;
}
