import type { Asked } from '../kinds/kind';
import type { BlockState, BudgetState, EntryState } from '../kinds/state';
import { isBlocked } from './block';
import { isBlockResting, MAX_OPEN, type BlockTerms, type Budget, type BudgetEntry } from './budget';

/** What an ask wants of a counter. */
export interface BudgetAsk {
  /** Of one ask; negative gives back. */
  readonly hits: number;
  /** `ask` charges at once. */
  readonly mode: 'ask' | 'reserve' | 'settle' | 'cancel';
}

/** The state of an entry; slots are what is open. */
export function entryAt(
  { entries, open }: BudgetState,
  { isSlots }: BudgetEntry,
  at: number,
): EntryState {
  const entry = entries[at] as EntryState;
  return isSlots ? { ...entry, used: open } : entry;
}

/** Units of an entry that neither hits nor reservations take; negative: a debt. */
export function freeUnits(entry: BudgetEntry, state: BudgetState, at: number): number {
  const { gate, isSlots } = entry;
  const free = gate.kind.free(gate, entryAt(state, entry, at));
  return isSlots ? free : free - state.held * gate.periodTicks;
}

/** Whether one limit refuses an ask: it does not fit whole beside what is counted and held. */
export function refusesEntry(
  entry: BudgetEntry,
  state: BudgetState,
  at: number,
  ask: BudgetAsk,
): boolean {
  const { gate, isSlots } = entry;
  const { hits, mode } = ask;
  if (entry.isResting) return false;
  if (isSlots) return mode === 'reserve' && freeUnits(entry, state, at) < 1;
  // To hold nothing needs something that is left: the charge comes later.
  const least = mode === 'reserve' ? Math.max(hits, 1) : Math.max(hits, 0);
  return hits > gate.size || freeUnits(entry, state, at) < least * gate.periodTicks;
}

/** What becomes of an ask. */
export interface Judgement {
  readonly isOver: boolean;
  /** The limits that refuse it, by their places. */
  readonly refusing: readonly number[];
  /** A block refuses it, whatever the limits say, or would in shadow mode; the index among the blocks; -1: none. */
  readonly block: number;
}

const NONE: readonly number[] = [];
const ADMITTED: Judgement = { isOver: false, refusing: NONE, block: -1 };

/** Judges one ask by where its counter stands; an ask with negative hits by where it stands after them. */
export function judge(budget: Budget, state: BudgetState, ask: BudgetAsk): Judgement {
  const { hits, mode } = ask;
  if (isNeverRefused(state, ask)) return ADMITTED;
  const block = hits < 0 ? -1 : blockAt(budget, state);
  if (block !== -1 && !budget.isShadow) return { isOver: true, refusing: NONE, block };
  const refusing = placesRefusing(budget, state, ask);
  const isFull = mode === 'reserve' && state.open >= MAX_OPEN;
  const isOver = isFull || refusing.length > 0;
  // Nearly all are: no object is made for them.
  return isOver || block !== -1 ? { isOver, refusing, block } : ADMITTED;
}

function placesRefusing(
  { entries }: Budget,
  state: BudgetState,
  ask: BudgetAsk,
): readonly number[] {
  let places: number[] | undefined;
  for (let at = 0; at < entries.length; at += 1)
    if (refusesEntry(entries[at] as BudgetEntry, state, at, ask)) (places ??= []).push(at);
  return places ?? NONE;
}

/** What ends a reservation, and a call that was tried again while its reservation is open. */
function isNeverRefused({ was }: BudgetState, { mode }: BudgetAsk): boolean {
  return mode === 'settle' || mode === 'cancel' || (mode === 'reserve' && was >= 0);
}

/** The block that lasts now, by its place; -1: none. */
export function blockAt(budget: Budget, { blocks, atMicros }: BudgetState): number {
  for (let at = 0; at < blocks.length; at += 1)
    if (
      isBlocked(blocks[at] as BlockState, atMicros / 1_000) &&
      !isBlockResting(budget, budget.blocks[at] as BlockTerms)
    )
      return at;
  return -1;
}

/**
 * What an increment asks of a counter that was found so. What ends a reservation without hits of its own charges what was held;
 * reservations give nothing back.
 */
export function askOf({ reservation }: Asked, { was }: BudgetState, hits: number): BudgetAsk {
  if (reservation === undefined) return { hits, mode: 'ask' };
  const { mode, saysHits } = reservation;
  if (mode === 'look') return { hits: 0, mode: 'ask' };
  if (mode === 'cancel') return { hits: 0, mode };
  return { hits: Math.max(0, mode === 'settle' && !saysHits ? was : hits), mode };
}
