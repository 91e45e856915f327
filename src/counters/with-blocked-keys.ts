import { isBudgetGate } from '../core/budgets/budget';
import type { CounterPlace, Counters, Increment } from '../core/ports';
import type { OverLimitCache } from './over-limit-cache';
import { withOverLimitCache, type PublishInvalidation } from './with-over-limit-cache';

/**
 * Counters that do not ask their store for keys that a `block` refuses (budgets.md section 6); whatever else is over its limit is
 * asked as ever. `onUsed`: a rule with `block` was asked for, so that messages to the cache have to be heard.
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

/** Forgets counters here and elsewhere, those alone that may be blocked. */
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

function mayBeBlocked({ gate }: Increment): boolean {
  // The first is false of nearly all.
  return gate.isAlone && isBudgetGate(gate) && gate.budget.blocks.length > 0;
}

function hasBlocks({ rule: { gate } }: CounterPlace): boolean {
  return isBudgetGate(gate) && gate.budget.blocks.length > 0;
}
