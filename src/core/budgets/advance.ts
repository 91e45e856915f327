import { type BudgetState, type EntryState, entryState } from '../kinds/state';
import { SPARE_SECONDS } from '../kinds/ticks';
import { believedBlocks, NO_BLOCK } from './block';
import type { Budget, BudgetEntry } from './budget';
import { take } from './commit';

/** A reservation whose lease has expired. */
export interface Lapse {
  readonly hits: number;
  /** Milliseconds since 1970. */
  readonly endMs: number;
}

/** Two clocks: the store's, and this process' own, which windows follow. */
export interface Moment {
  /** Microseconds since 1970. */
  readonly micros: number;
  readonly nowSeconds: number;
}

/** No lease has expired. */
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

function unusedEntry(
  { limiter, windowAt }: BudgetEntry,
  { micros, nowSeconds }: Moment,
): EntryState {
  const tick = tickOf(micros, limiter.tickMicros);
  const endSeconds = windowAt?.(nowSeconds).endSeconds ?? 0;
  return entryState(limiter.kind.ofHits(limiter, 0, tick), endSeconds);
}

/**
 * A stored counter as it stands now. Expired leases are charged, each at the moment of its expiry and in the window of that moment;
 * a window that has ended takes nothing (budgets.md section 4). The entries are new: a store may overwrite its own.
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
  const { limiter } = entry;
  let tick = tickOf(atMicros, limiter.tickMicros);
  let now: EntryState = state;
  for (const { hits, endMs } of lapses) {
    const due = Math.max(tick, tickOf(endMs * 1_000, limiter.tickMicros));
    now = take(entry, step(entry, now, due, due - tick), hits);
    tick = due;
  }
  const nowTick = tickOf(micros, limiter.tickMicros);
  return step(entry, now, nowTick, nowTick - tick);
}

/** An idle counter is equivalent to an unused one. */
function step(
  { limiter }: BudgetEntry,
  state: EntryState,
  tick: number,
  ticks: number,
): EntryState {
  const now = limiter.kind.advance(limiter, state, ticks);
  const isUnused = now.used === 0 && now.previous === 0;
  return entryState(isUnused ? limiter.kind.ofHits(limiter, 0, tick) : now, 0);
}

/**
 * A stored window that ends later than this process' own stays: a window never goes back. One that ends later than any window of
 * the rule can was written by a wrong clock: the current window replaces it.
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

/** Whether a stored counter can only have been written by a wrong clock; `advanceBudget` mends it. */
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
  const { limiter, isSlots, windowAt } = entry;
  if (isSlots) return false;
  if (windowAt !== undefined) return state.used > 0 && isAstrayEnd(entry, state, nowSeconds);
  const ticks = tickOf(micros, limiter.tickMicros) - tickOf(atMicros, limiter.tickMicros);
  return limiter.kind.isAstray(limiter, state, ticks);
}

function tickOf(micros: number, tickMicros: number): number {
  return Math.floor(micros / tickMicros);
}
