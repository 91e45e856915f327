import { isBudgetLimiter } from '../core/budgets/budget';
import type { CounterPlace, Counters, Increment } from '../core/ports';
import type { OverLimitCache } from './over-limit-cache';
import { withOverLimitCache, type PublishInvalidation } from './with-over-limit-cache';

/**
 * Counters that do not call their store for keys that a `block` refuses (budgets.md section 6); all other keys go to the store.
 * `onUsed`: a rule with `block` was used, so messages to the cache must be received from now on.
 */
export function withBlockedKeys(
  counters: Counters,
  cache: OverLimitCache,
  onUsed: () => void,
): Counters {
  const cached = withOverLimitCache(counters, cache, { keeps: mayBeBlocked });
  return {
    add(batch) {
      if (!batch.increments.some(mayBeBlocked)) return counters.add(batch);
      onUsed();
      return cached.add(batch);
    },
    close: () => cached.close(),
  };
}

/** Drops counters here and elsewhere, but only those that may be blocked. */
export function forgettingBlocked(
  cache: OverLimitCache,
  publish: PublishInvalidation,
): PublishInvalidation {
  return (places) => {
    const blocked = places.filter(hasBlocks);
    if (blocked.length === 0) return;
    cache.forgetKeys(blocked.map(({ key }) => key));
    publish(blocked);
  };
}

function mayBeBlocked({ limiter }: Increment): boolean {
  // The first is false for nearly all.
  return limiter.isNeverMerged && isBudgetLimiter(limiter) && limiter.budget.blocks.length > 0;
}

function hasBlocks({ rule: { limiter } }: CounterPlace): boolean {
  return isBudgetLimiter(limiter) && limiter.budget.blocks.length > 0;
}
