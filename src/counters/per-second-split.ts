import type { CounterPlace, Counters } from '../core/ports';
import { once } from './once';
import { addSplit, type ReadableCounters, type SplitOptions } from './split';

export function isPerSecond({ rule }: Pick<CounterPlace, 'rule'>): boolean {
  return rule.isPerSecond;
}

/** One of two stores. */
interface SplitStore {
  readonly counters: Counters;
  /** See `ReadableCounters`. */
  readonly read: ReadableCounters['read'];
}

export interface PerSecondSplitDeps {
  readonly perSecond: SplitStore;
  readonly others: SplitStore;
  /** Called once, when a group uses both stores: it is then held back by a read followed by an add. */
  readonly onNotAtomic: () => void;
}

/**
 * Counters in two stores. If one is unreachable, only its own increments fail; a batch whose increments are all in one store does
 * not use the other.
 */
export function createPerSecondSplit(deps: PerSecondSplitDeps): Counters {
  const { perSecond, others, onNotAtomic } = deps;
  const options: SplitOptions<SplitStore> = {
    add: ({ counters }, batch) => counters.add(batch),
    read: (store, keys) => store.read(keys),
    parallelism: 0,
    onNotAtomic: once(onNotAtomic),
  };
  return {
    async add(batch) {
      if (batch.increments.length === 0) return others.counters.add(batch);
      return addSplit(batch, (one) => (isPerSecond(one) ? perSecond : others), options);
    },
    async close() {
      await Promise.all([perSecond.counters.close(), others.counters.close()]);
    },
  };
}
