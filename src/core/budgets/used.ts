import type { BudgetState, EntryState } from '../kinds/state';
import { unusedBudget } from './advance';
import type { Budget, BudgetEntry } from './budget';
import { take } from './commit';
import { freeUnits } from './judge';
import { changedState } from './states';

/** A counter as it stands, with one of its limits at so many hits; the others, its blocks and what is held stay. */
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
 * Hits in use, held ones included, under the limit on hits of which the smallest share is left; beyond the limit in a debt. Of a
 * rule with slots alone those that are taken.
 */
export function usedOfNearest({ entries }: Budget, state: BudgetState): number {
  const uses = entries.flatMap((entry, at) => {
    if (entry.isResting) return [];
    const { size, periodTicks } = entry.gate;
    const free = Math.floor(freeUnits(entry, state, at) / periodTicks);
    return [{ isSlots: entry.isSlots, used: size - free, share: free / Math.max(size, 1) }];
  });
  const ofHits = uses.filter(({ isSlots }) => !isSlots);
  const [first, ...others] = ofHits.length === 0 ? uses : ofHits;
  return others.reduce((a, b) => (b.share < a.share ? b : a), first as LimitInUse).used;
}
