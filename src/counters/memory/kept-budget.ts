import type { BudgetState, EntryState } from '../../core/kinds/state';

/**
 * The state of a counter with a budget, in mutable objects of its own: new ones for each charge would outlive it, and the garbage
 * collector would copy them. They must not be handed on.
 */
export function keptBudget({ atMicros, entries, blocks, held, open }: BudgetState) {
  return { atMicros, entries: entries.map(keptEntry), blocks, held, open, was: -1, lapsed: 0 };
}

export type KeptBudget = ReturnType<typeof keptBudget>;

/** Overwrites it with a state. */
export function writeOver(kept: KeptBudget, state: BudgetState): void {
  const { entries } = state;
  kept.atMicros = state.atMicros;
  kept.blocks = state.blocks;
  kept.held = state.held;
  kept.open = state.open;
  // A reload gave the rule other limits.
  if (kept.entries.length !== entries.length) kept.entries = entries.map(keptEntry);
  else
    for (let at = 0; at < entries.length; at += 1)
      writeEntry(kept.entries[at] as KeptEntry, entries[at] as EntryState);
}

/** Leaves its current limit states to those who hold them: later writes go to new ones. */
export function leaveEntries(kept: KeptBudget): void {
  kept.entries = kept.entries.map(keptEntry);
}

function keptEntry({ used, previous, elapsed, endSeconds, ages }: EntryState) {
  return { used, previous, elapsed, endSeconds, ages };
}

type KeptEntry = ReturnType<typeof keptEntry>;

function writeEntry(
  kept: KeptEntry,
  { used, previous, elapsed, endSeconds, ages }: EntryState,
): void {
  kept.used = used;
  kept.previous = previous;
  kept.elapsed = elapsed;
  kept.endSeconds = endSeconds;
  kept.ages = ages;
}
