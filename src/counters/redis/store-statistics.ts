import { type Statistics } from '../../core/ports';

/** Counts what happens to the connections and batches of a store. */
export interface StoreStatistics {
  opened(): void;
  closed(): void;
  /** A batch was written to a server, and nobody will know whether it was counted. */
  fateUnknown(): void;
  /** Removes the gauge. */
  remove(): void;
}

const UNKNOWN_OUTCOME = 'ratelimit.service.call.should_rate_limit.store_unknown_outcome';

export function createStoreStatistics(
  statistics: Pick<Statistics, 'gauge' | 'count'> | undefined,
  prefix = 'ratelimit.redis_pool',
): StoreStatistics {
  let active = 0;
  const removeGauge = statistics?.gauge(`${prefix}.cx_active`, () => active);
  return {
    opened() {
      active += 1;
      statistics?.count(`${prefix}.cx_total`, 1);
    },
    closed() {
      active -= 1;
      statistics?.count(`${prefix}.cx_local_close`, 1);
    },
    fateUnknown() {
      statistics?.count(UNKNOWN_OUTCOME, 1);
    },
    remove() {
      removeGauge?.();
    },
  };
}
