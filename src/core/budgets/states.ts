import type { BudgetState, CounterState, EntryState } from '../kinds/state';

/*
 * States are made field by field: V8 gives a spread copy with another field, or a number of another representation, a shape of its
 * own: some 200 bytes that live as long as the counter.
 */

/** The state of one limit. */
export function entryState(
  { used, previous, elapsed, ages }: CounterState,
  endSeconds: number,
): EntryState {
  return { used, previous, elapsed, endSeconds, ages };
}

/** The same counter with other fields. */
export function changedState(state: BudgetState, changes: Partial<BudgetState>): BudgetState {
  const { atMicros, entries, blocks, held, open, was, lapsed } = state;
  return {
    atMicros: changes.atMicros ?? atMicros,
    entries: changes.entries ?? entries,
    blocks: changes.blocks ?? blocks,
    held: changes.held ?? held,
    open: changes.open ?? open,
    was: changes.was ?? was,
    lapsed: changes.lapsed ?? lapsed,
  };
}
