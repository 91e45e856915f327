import type { BudgetState, EntryState } from '../kinds/state';
import { unusedBudget } from './advance';
import type { Budget, BudgetEntry } from './budget';
import { take } from './commit';
import { freeUnits } from './judge';
import { changedState } from './states';

/** The counter with one limit set to `hits`; its other limits, its blocks and its reservations stay. */
export function withUsed(
  budget: Budget,
  state: BudgetState,
  at: number,
  hits: number,
): BudgetState {
  const { atMicros: micros } = state;
  const unused = unusedBudget(budget, { micros, nowSeconds: micros / 1_000_000 });
  const used = take(budget.entries[at] as BudgetEntry, unused.entries[at] as EntryState, hits);
  const entries = state.entries.map((one, place) => (place === at ? used : one));
  return changedState(state, { entries });
}

interface LimitInUse {
  readonly used: number;
  readonly share: number;
}

/**
 * Hits in use, reserved ones included, under the hit limit with the smallest share left; in a debt above the limit. For a rule that
 * has only slots: the slots taken.
 */
export function usedOfNearest({ entries }: Budget, state: BudgetState): number {
  const uses = entries.flatMap((entry, at) => {
    if (entry.isResting) return [];
    const { size, periodTicks } = entry.limiter;
    const free = Math.floor(freeUnits(entry, state, at) / periodTicks);
    return [{ isSlots: entry.isSlots, used: size - free, share: free / Math.max(size, 1) }];
  });
  const ofHits = uses.filter(({ isSlots }) => !isSlots);
  const [first, ...others] = ofHits.length === 0 ? uses : ofHits;
  return others.reduce((a, b) => (b.share < a.share ? b : a), first as LimitInUse).used;
}
