import { type Observable } from 'rxjs';
import { type ReadableCounters } from '../split';

/** Counters in Redis, whether they can be used, and what they do by themselves. */
export interface RedisStore extends ReadableCounters {
  /** Whether the store can be used now; of several servers, at least one. Distinct. */
  readonly connected$: Observable<boolean>;
  /**
   * Connects, and connects again, while it is subscribed to; subscribe once. Completes after `close`;
   * fails with a StoreError when no first connection comes about within `startupMaxElapsedMs`.
   */
  readonly run$: Observable<never>;
}
