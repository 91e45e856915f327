import type { BudgetState, CounterState, EntryState } from '../kinds/state';
import { NO_BLOCK } from './block';
import type { Budget, BudgetEntry } from './budget';
import { take } from './commit';
import { entryState } from './states';

/** A reservation whose lease is over. */
export interface Lapse {
  readonly hits: number;
  /** Milliseconds since 1970. */
  readonly endMs: number;
}

/** Two clocks: that of the store, and that of this process, by which windows begin and end. */
export interface Moment {
  /** Microseconds since 1970. */
  readonly micros: number;
  readonly nowSeconds: number;
}

/** No lease is over. */
export const NO_LAPSES: readonly Lapse[] = [];

/** A counter that was never used. */
export function unusedBudget(budget: Budget, moment: Moment): BudgetState {
  return {
    atMicros: moment.micros,
    entries: budget.entries.map((entry) => unusedEntry(entry, moment)),
    blocks: budget.blocks.map(() => NO_BLOCK),
    held: 0,
    open: 0,
    was: -1,
    lapsed: 0,
  };
}

function unusedEntry({ gate, windowAt }: BudgetEntry, { micros, nowSeconds }: Moment): EntryState {
  const tick = tickOf(micros, gate.tickMicros);
  const endSeconds = windowAt?.(nowSeconds).endSeconds ?? 0;
  return entryState(gate.kind.ofHits(gate, 0, tick), endSeconds);
}

/**
 * A stored counter as it stands now, with what leases that are over charge: each at the moment of its end, in the window of that
 * moment; a window that is gone takes nothing (budgets.md section 4). Its entries are new ones: a store may write over its own.
 */
export function advanceBudget(
  budget: Budget,
  stored: BudgetState,
  lapses: readonly Lapse[],
  moment: Moment,
): BudgetState {
  const charged = budget.reserve?.isReleased === true ? NO_LAPSES : lapses;
  const { entries } = budget;
  const advanced = new Array<EntryState>(entries.length);
  for (let at = 0; at < entries.length; at += 1) {
    const one = stored.entries[at] as EntryState;
    advanced[at] = advanceEntry(entries[at] as BudgetEntry, one, stored.atMicros, charged, moment);
  }
  let lapsed = 0;
  for (const { hits } of lapses) lapsed += hits;
  return {
    atMicros: moment.micros,
    entries: advanced,
    blocks: stored.blocks,
    held: Math.max(0, stored.held - lapsed),
    open: stored.open - lapses.length,
    was: -1,
    lapsed,
  };
}

function advanceEntry(
  entry: BudgetEntry,
  state: EntryState,
  atMicros: number,
  lapses: readonly Lapse[],
  moment: Moment,
): EntryState {
  if (entry.isSlots) return entryState(state, 0);
  return entry.windowAt === undefined
    ? advanceOwn(entry, state, atMicros, lapses, moment)
    : advanceWindow(entry, state, lapses, moment);
}

function advanceOwn(
  entry: BudgetEntry,
  state: EntryState,
  atMicros: number,
  lapses: readonly Lapse[],
  { micros }: Moment,
): EntryState {
  const { gate } = entry;
  let tick = tickOf(atMicros, gate.tickMicros);
  let now: EntryState = state;
  for (const { hits, endMs } of lapses) {
    const due = Math.max(tick, tickOf(endMs * 1_000, gate.tickMicros));
    now = take(entry, entryState(step(entry, now, due - tick), 0), hits);
    tick = due;
  }
  return entryState(step(entry, now, tickOf(micros, gate.tickMicros) - tick), 0);
}

function step({ gate }: BudgetEntry, state: CounterState, ticks: number): CounterState {
  return gate.kind.advance(gate, state, ticks);
}

/** A stored window that ends later than this process' own stays: it never goes back. */
function advanceWindow(
  entry: BudgetEntry,
  state: EntryState,
  lapses: readonly Lapse[],
  { nowSeconds }: Moment,
): EntryState {
  const window = entry.windowAt?.(nowSeconds) ?? { startSeconds: 0, endSeconds: 0 };
  const isCurrent = state.endSeconds >= window.endSeconds;
  let now = isCurrent
    ? entryState(state, state.endSeconds)
    : entryState({ used: 0, previous: 0, elapsed: 0 }, window.endSeconds);
  for (const { hits, endMs } of lapses)
    if (endMs >= window.startSeconds * 1_000) now = take(entry, now, hits);
  return now;
}

function tickOf(micros: number, tickMicros: number): number {
  return Math.floor(micros / tickMicros);
}
