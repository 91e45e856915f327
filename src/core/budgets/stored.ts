import {
  type BlockState,
  type BudgetState,
  type EntryState,
  changedState,
  entryState,
} from '../kinds/state';
import { unusedBudget, type Moment, advanceBudget, type Lapse } from './advance';
import { blockEndMs, NO_BLOCK } from './block';
import type { Budget, BudgetEntry } from './budget';
import { blockName, stateOf } from './record';
import { take } from './commit';
import { freeUnits } from './judge';

/**
 * State of a limit or a block that the current rule does not have, but another rule with the same key does or did: kept until it
 * expires.
 */
export interface Stray {
  /** Its name in a record. */
  readonly name: string;
  readonly state: EntryState | BlockState;
  /** By the clock of the store, in microseconds since 1970. */
  readonly atMicros: number;
  readonly endMs: number;
}

/** A counter as it is stored, with the limits that count in it. */
export interface StoredBudget {
  readonly budget: Budget;
  readonly state: BudgetState;
  readonly strays: readonly Stray[];
}

/** At most this many strays are kept: those that end last. */
export const MAX_STRAYS = 16;

/**
 * A counter that was stored under other limits: limits that still exist keep their usage (found by id, blocks by whose refusals
 * they count), new ones start empty, all others become strays (budgets.md section 8).
 */
export function underBudget(budget: Budget, kept: StoredBudget, moment: Moment): BudgetState {
  if (hasSameForm(kept.budget, budget)) return kept.state;
  const { state } = kept;
  const parts = new Map(partsOf(kept).map((one) => [one.name, one]));
  const unused = unusedBudget(budget, { ...moment, micros: state.atMicros });
  const entries = budget.entries.map((entry, at): EntryState => {
    const part = parts.get(entry.id);
    return part === undefined
      ? (unused.entries[at] as EntryState)
      : entryThen(entry, part, state.atMicros);
  });
  const blocks = budget.blocks.map((terms): BlockState => {
    const part = parts.get(blockName(budget, terms));
    return part === undefined ? NO_BLOCK : (part.state as BlockState);
  });
  return changedState(state, { entries, blocks });
}

/** State in use that belongs to other rules than this one. */
export function straysUnder(budget: Budget, kept: StoredBudget, nowMs: number): readonly Stray[] {
  if (hasSameForm(kept.budget, budget)) return kept.strays;
  const names = new Set([
    ...budget.entries.map(({ id }) => id),
    ...budget.blocks.map((terms) => blockName(budget, terms)),
  ]);
  const strays = partsOf(kept).filter(({ name, endMs }) => !names.has(name) && endMs > nowMs);
  return strays.sort((a, b) => b.endMs - a.endMs).slice(0, MAX_STRAYS);
}

/** Whether the states of two budgets have the same parts in the same order. Those of one rule do, whichever of its limits apply. */
function hasSameForm(one: Budget, other: Budget): boolean {
  if (one === other) return true;
  return (
    one.entries.length === other.entries.length &&
    one.blocks.length === other.blocks.length &&
    one.entries.every(({ id }, at) => id === other.entries[at]?.id) &&
    one.blocks.every(({ entry }, at) => entry === other.blocks[at]?.entry)
  );
}

function partsOf({ budget, state, strays }: StoredBudget): readonly Stray[] {
  const { atMicros } = state;
  const entries = budget.entries.map((entry, at): Stray => {
    const one = state.entries[at] as EntryState;
    return { name: entry.id, state: one, atMicros, endMs: endMsOf(entry, one, atMicros) };
  });
  const blocks = budget.blocks.map((terms, at): Stray => {
    const one = state.blocks[at] as BlockState;
    return { name: blockName(budget, terms), state: one, atMicros, endMs: blockEndMs(one) };
  });
  return [...strays, ...entries, ...blocks];
}

function endMsOf({ limiter, isSlots, windowAt }: BudgetEntry, state: EntryState, atMicros: number) {
  if (isSlots || (state.used === 0 && state.previous === 0)) return 0;
  if (windowAt !== undefined) return state.endSeconds * 1_000;
  return (atMicros + limiter.kind.ticksOfLife(limiter, state) * limiter.tickMicros) / 1_000;
}

/** The state of a limit, moved from one moment to another. */
function entryThen(
  { limiter, isSlots, windowAt }: BudgetEntry,
  part: Stray,
  atMicros: number,
): EntryState {
  const state = part.state as EntryState;
  if (isSlots || windowAt !== undefined || part.atMicros === atMicros) return state;
  const tickOf = (micros: number): number => Math.floor(micros / limiter.tickMicros);
  const ticks = tickOf(atMicros) - tickOf(part.atMicros);
  return entryState(limiter.kind.advance(limiter, state, ticks), state.endSeconds);
}

/** A counter as a store keeps it, and its leases that have expired since it was written. */
export interface Kept {
  /** Undefined: there is no record. */
  readonly record: string | undefined;
  /** Reserved hits after the last call. */
  readonly held?: number;
  readonly open?: number;
  /** In the order of their expiry. */
  readonly lapses: readonly Lapse[];
}

/** The counter as the next call would read it; undefined: another kind wrote its record. */
export function standingOf(
  budget: Budget,
  { record, held = 0, open = 0, lapses }: Kept,
  moment: Moment,
): BudgetState | undefined {
  const [first] = lapses;
  // Advance only to the first expiry: what that charges drains from then on.
  const then = first === undefined ? moment : { ...moment, micros: first.endMs * 1_000 };
  const kept = record === undefined ? unusedBudget(budget, then) : stateOf(budget, record, then);
  return kept && advanceBudget(budget, { ...kept, held, open }, lapses, moment);
}

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
