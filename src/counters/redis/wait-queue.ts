import { type StoreError } from '../../core/errors';
import { type RedisConnection } from './connection';
import { type BatchInFlight } from './in-flight';

/** A connection that has accepted a batch. */
export interface Lease {
  readonly connection: RedisConnection;
  readonly batchInFlight: BatchInFlight;
}

export interface WaitQueueOptions {
  readonly timeoutMs: number;
  readonly toTimeoutError: () => StoreError;
  readonly overdueMs: number;
  /** A batch has waited for `overdueMs`; a returned error ends its wait. */
  readonly onOverdue: () => StoreError | undefined;
}

interface Waiter {
  readonly weight: number;
  isOverdue: boolean;
  readonly timers: readonly NodeJS.Timeout[];
  readonly resolve: (lease: Lease) => void;
  readonly reject: (error: StoreError) => void;
}

/** Batches that wait for a free connection, first come, first served. */
export function createWaitQueue(options: WaitQueueOptions) {
  const { timeoutMs, toTimeoutError, overdueMs, onOverdue } = options;
  const waiters = new Set<Waiter>();
  let weight = 0;

  const leave = (waiter: Waiter): void => {
    if (!waiters.delete(waiter)) return;
    weight -= waiter.weight;
    waiter.timers.forEach(clearTimeout);
  };
  const refuse = (waiter: Waiter, error: StoreError): void => {
    leave(waiter);
    waiter.reject(error);
  };
  const noteOverdue = (waiter: Waiter): void => {
    waiter.isOverdue = true;
    const error = onOverdue();
    if (error !== undefined) refuse(waiter, error);
  };

  return {
    get size() {
      return waiters.size;
    },
    /** Number of waiting increments. */
    get weight() {
      return weight;
    },
    /** The first in the queue has waited for `overdueMs`. */
    get isOverdue() {
      for (const { isOverdue } of waiters) return isOverdue;
      return false;
    },
    join: (ofWeight: number) =>
      new Promise<Lease>((resolve, reject) => {
        const waiter: Waiter = {
          weight: ofWeight,
          isOverdue: false,
          timers: [
            setTimeout(() => {
              refuse(waiter, toTimeoutError());
            }, timeoutMs),
            setTimeout(() => {
              noteOverdue(waiter);
            }, overdueMs),
          ],
          resolve,
          reject,
        };
        waiters.add(waiter);
        weight += ofWeight;
      }),
    /** Hands out leases from the front, until `take` has none. */
    serve(take: (weight: number) => Lease | undefined) {
      for (const waiter of waiters) {
        const lease = take(waiter.weight);
        if (lease === undefined) return;
        leave(waiter);
        waiter.resolve(lease);
      }
    },
    rejectAll(error: StoreError) {
      for (const waiter of [...waiters]) refuse(waiter, error);
    },
  };
}
