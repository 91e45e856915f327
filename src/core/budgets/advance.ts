import type { BudgetState, EntryState } from '../kinds/state';
import { SPARE_SECONDS } from '../kinds/ticks';
import { believedBlocks, NO_BLOCK } from './block';
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
    blocks: believedBlocks(budget, stored.blocks, Math.floor(moment.micros / 1_000)),
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
    now = take(entry, step(entry, now, due, due - tick), hits);
    tick = due;
  }
  const nowTick = tickOf(micros, gate.tickMicros);
  return step(entry, now, nowTick, nowTick - tick);
}

/** A counter of which nothing is in use stands as one that was never used. */
function step({ gate }: BudgetEntry, state: EntryState, tick: number, ticks: number): EntryState {
  const now = gate.kind.advance(gate, state, ticks);
  const isUnused = now.used === 0 && now.previous === 0;
  return entryState(isUnused ? gate.kind.ofHits(gate, 0, tick) : now, 0);
}

/**
 * A stored window that ends later than this process' own stays: it never goes back. One that ends later than any window of the rule
 * was named by a clock that was wrong: it is that of now.
 */
function advanceWindow(
  entry: BudgetEntry,
  state: EntryState,
  lapses: readonly Lapse[],
  { nowSeconds }: Moment,
): EntryState {
  const window = entry.windowAt?.(nowSeconds) ?? { startSeconds: 0, endSeconds: 0 };
  const isCurrent = state.used > 0 && state.endSeconds >= window.endSeconds;
  const endSeconds = isAstrayEnd(entry, state, nowSeconds) ? window.endSeconds : state.endSeconds;
  let now = isCurrent
    ? entryState(state, endSeconds)
    : entryState({ used: 0, previous: 0, elapsed: 0 }, window.endSeconds);
  for (const { hits, endMs } of lapses)
    if (endMs >= window.startSeconds * 1_000) now = take(entry, now, hits);
  return now;
}

function isAstrayEnd(
  { longestSeconds }: BudgetEntry,
  { endSeconds }: EntryState,
  nowSeconds: number,
): boolean {
  return endSeconds > Math.floor(nowSeconds) + longestSeconds + SPARE_SECONDS;
}

/** Whether a stored counter says something that only a wrong clock can have written; `advanceBudget` mends it. */
export function isAstrayBudget(budget: Budget, stored: BudgetState, moment: Moment): boolean {
  const nowMs = Math.floor(moment.micros / 1_000);
  if (believedBlocks(budget, stored.blocks, nowMs) !== stored.blocks) return true;
  const { entries } = budget;
  for (let at = 0; at < entries.length; at += 1) {
    const one = stored.entries[at] as EntryState;
    if (isAstrayEntry(entries[at] as BudgetEntry, one, stored.atMicros, moment)) return true;
  }
  return false;
}

function isAstrayEntry(
  entry: BudgetEntry,
  state: EntryState,
  atMicros: number,
  { micros, nowSeconds }: Moment,
): boolean {
  const { gate, isSlots, windowAt } = entry;
  if (isSlots) return false;
  if (windowAt !== undefined) return state.used > 0 && isAstrayEnd(entry, state, nowSeconds);
  const ticks = tickOf(micros, gate.tickMicros) - tickOf(atMicros, gate.tickMicros);
  return gate.kind.isAstray(gate, state, ticks);
}

function tickOf(micros: number, tickMicros: number): number {
  return Math.floor(micros / tickMicros);
}
