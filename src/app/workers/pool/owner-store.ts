import { map, merge } from 'rxjs';
import {
  createStopSignal,
  onceTrue,
  createSnapshot,
  type SnapshotOwner,
} from '../../../../streams';
import type { LimitsFromHashes } from '../../../counters/limits-from/create-limits-from';
import type { Settings } from '../../../settings/settings';
import type { Deciders, OwnerPorts } from '../../compose/decider';
import type { OutageLog } from '../../outage-log';
import { comparedOrigins } from '../../rules/time-zones';
import { openLimitsFrom } from '../../store/open-limits-from';
import { chooseCounters, type CounterStore, type CounterStoreDeps } from '../../store/store';
import type { StoreState } from '../messages';

/** The counters, and limits of values from hashes in them. */
interface OwnCounters extends CounterStore {
  readonly limitsFrom: LimitsFromHashes;
  /** Whether operators or secret keys need it; else it is there for time zones alone, where rules have some to compare. */
  readonly isAlwaysOpen: boolean;
}

/**
 * The counters as the owner of several workers reads and changes them for the operator API, over one connection of its own.
 * Its local cache stays empty: it is there so that changes are published to those of the workers, and of other instances.
 * Undefined: ADMIN_API=off, and there are neither secret keys nor time zones to compare in Redis.
 */
export function createOwnerStore(
  settings: Settings,
  deps: CounterStoreDeps & { readonly outages: OutageLog },
): OwnCounters | undefined {
  const { store, perSecondStore, admin, secrets } = settings;
  const isAlwaysOpen = admin.api !== 'off' || secrets.keysFile !== undefined;
  if (!isAlwaysOpen && store === undefined) return undefined;
  const ofOne = <S extends Settings['store']>(whole: S): S =>
    whole && { ...whole, pool: { ...whole.pool, size: 1 } };
  const own = chooseCounters(
    { ...settings, store: ofOne(store), perSecondStore: ofOne(perSecondStore) },
    deps,
  );
  const limitsFrom = openLimitsFrom({ ...deps, store: own });
  return { ...own, listOver: undefined, limitsFrom, isAlwaysOpen };
}

/** The workers, and the owner's own connection to the counters, which lives as long as they. */
export function withOwnerStore(
  workers: Deciders,
  { run$, counters, limitsFrom, isAlwaysOpen }: OwnCounters,
  { rules }: Pick<OwnerPorts, 'rules'>,
): Deciders {
  const stopping = createStopSignal();
  const hasZones$ = rules.changes$.pipe(
    map((one) => comparedOrigins(one).length > 0),
    stopping.until(),
  );
  return {
    ...workers,
    run$: isAlwaysOpen
      ? merge(workers.run$, run$, limitsFrom.run$)
      : merge(workers.run$, onceTrue(hasZones$, run$)),
    async finish() {
      await workers.finish();
      stopping.stop();
      limitsFrom.close();
      await counters.close();
    },
  };
}

/** The stores as the workers see them: each counts as connected while one of them is connected to it. */
export function createMergedStore(names: readonly string[], description: string) {
  const states = new Map<number, StoreState>();
  const connected = createSnapshot(false);
  const each = new Map<string, SnapshotOwner<boolean>>(
    names.map((name) => [name, createSnapshot(false)]),
  );
  const isConnected = (name: string): boolean =>
    [...states.values()].some((state) => state.connected.get(name) === true);
  return {
    connected$: connected.changes$,
    connections: new Map([...each].map(([name, snapshot]) => [name, snapshot.changes$])),
    whyAway: () => [...states.values()].find(({ whyAway }) => whyAway !== undefined)?.whyAway,
    misplaced: () =>
      [...states.values()].find(({ misplaced }) => misplaced.size > 0)?.misplaced ?? new Map(),
    description,
    /** Replaces a worker's previous report; undefined: it has ended. */
    report(worker: number, state: StoreState | undefined) {
      if (state === undefined) states.delete(worker);
      else states.set(worker, state);
      for (const [name, snapshot] of each) {
        const now = isConnected(name);
        if (now !== snapshot.current) snapshot.set(now);
      }
      const all = names.every(isConnected);
      if (all !== connected.current) connected.set(all);
    },
  };
}
