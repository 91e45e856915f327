import { createSnapshot, type SnapshotOwner } from '../../../../streams';
import type { StoreState } from '../messages';

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
