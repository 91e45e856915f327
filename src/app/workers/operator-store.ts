import type { Settings } from '../../settings/settings';
import { openLimitsFrom } from '../open-limits-from';
import type { OutageLog } from '../outage-log';
import type { LimitsFromHashes } from '../../counters/limits-from/create-limits-from';
import { chooseCounters, type CounterStore, type CounterStoreDeps } from '../actors/store';

/** The counters, and limits of values from hashes in them. */
export interface OwnCounters extends CounterStore {
  readonly limitsFrom: LimitsFromHashes;
}

/**
 * The counters as the owner of several workers reads and changes them for the operator API, over one connection of its own.
 * Its local cache stays empty: it is there so that changes are published to those of the workers, and of other instances.
 * Undefined: ADMIN_API=off, and there are no secret keys to compare.
 */
export function createOperatorStore(
  settings: Settings,
  deps: CounterStoreDeps & { readonly outages: OutageLog },
): OwnCounters | undefined {
  if (settings.admin.api === 'off' && settings.secrets.keysFile === undefined) return undefined;
  const { store, perSecondStore } = settings;
  const ofOne = <S extends Settings['store']>(whole: S): S =>
    whole && { ...whole, pool: { ...whole.pool, size: 1 } };
  const own = chooseCounters(
    { ...settings, store: ofOne(store), perSecondStore: ofOne(perSecondStore) },
    deps,
  );
  const limitsFrom = openLimitsFrom({ ...deps, store: own });
  return { ...own, listOver: undefined, limitsFrom };
}
