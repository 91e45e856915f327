import type { Operation } from '../kinds/kind';
import type { BlockState, BudgetState, EntryState } from '../kinds/state';
import { isBlocked } from './block';
import { isBlockResting, MAX_OPEN, type BlockTerms, type Budget, type BudgetEntry } from './budget';

/** One charge against a budget counter. */
export interface BudgetCharge {
  /** Negative: a refund. */
  readonly hits: number;
  /** `charge` charges at once. */
  readonly mode: 'charge' | 'reserve' | 'settle' | 'cancel';
}

/** The state of an entry; for slots, the number of open reservations. */
export function entryAt(
  { entries, open }: BudgetState,
  { isSlots }: BudgetEntry,
  at: number,
): EntryState {
  const entry = entries[at] as EntryState;
  return isSlots ? { ...entry, used: open } : entry;
}

/** Units of an entry that are neither used nor reserved; negative: a debt. */
export function freeUnits(entry: BudgetEntry, state: BudgetState, at: number): number {
  const { limiter, isSlots } = entry;
  const free = limiter.kind.free(limiter, entryAt(state, entry, at));
  return isSlots ? free : free - state.held * limiter.periodTicks;
}

/** Whether one limit refuses a charge: it does not fit whole beside used and reserved hits. */
export function refusesEntry(
  entry: BudgetEntry,
  state: BudgetState,
  at: number,
  charge: BudgetCharge,
): boolean {
  const { limiter, isSlots } = entry;
  const { hits, mode } = charge;
  if (entry.isResting) return false;
  if (isSlots) return mode === 'reserve' && freeUnits(entry, state, at) < 1;
  // Even a zero-hit reservation needs one free hit: it will be charged later.
  const least = mode === 'reserve' ? Math.max(hits, 1) : Math.max(hits, 0);
  return hits > limiter.size || freeUnits(entry, state, at) < least * limiter.periodTicks;
}

/** The decision on one charge. */
export interface Judgement {
  readonly isOver: boolean;
  /** The indices of the limits that refuse it. */
  readonly refusing: readonly number[];
  /** The index of the block that refuses it (or would, if not in shadow mode), whatever the limits say; -1: none. */
  readonly block: number;
}

const NONE: readonly number[] = [];
const ADMITTED: Judgement = { isOver: false, refusing: NONE, block: -1 };

/** Judges one charge by the counter before it; a refund by the counter after it. */
export function judge(budget: Budget, state: BudgetState, charge: BudgetCharge): Judgement {
  const { hits, mode } = charge;
  if (isNeverRefused(state, charge)) return ADMITTED;
  const block = hits < 0 ? -1 : blockAt(budget, state);
  if (block !== -1 && !budget.isShadow) return { isOver: true, refusing: NONE, block };
  const refusing = placesRefusing(budget, state, charge);
  const isFull = mode === 'reserve' && state.open >= MAX_OPEN;
  const isOver = isFull || refusing.length > 0;
  // The common case: no object is allocated.
  return isOver || block !== -1 ? { isOver, refusing, block } : ADMITTED;
}

function placesRefusing(
  { entries }: Budget,
  state: BudgetState,
  charge: BudgetCharge,
): readonly number[] {
  let places: number[] | undefined;
  for (let at = 0; at < entries.length; at += 1)
    if (refusesEntry(entries[at] as BudgetEntry, state, at, charge)) (places ??= []).push(at);
  return places ?? NONE;
}

/** Settles and cancels, and retried calls whose reservation is still open. */
function isNeverRefused({ was }: BudgetState, { mode }: BudgetCharge): boolean {
  return mode === 'settle' || mode === 'cancel' || (mode === 'reserve' && was >= 0);
}

/** The index of the block that lasts now; -1: none. */
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
 * The charge that an increment makes on a counter in this state. A settle without hits of its own charges the reserved ones;
 * reservations refund nothing.
 */
export function chargeOf(
  { reservation }: Operation,
  { was }: BudgetState,
  hits: number,
): BudgetCharge {
  if (reservation === undefined) return { hits, mode: 'charge' };
  const { mode, saysHits } = reservation;
  if (mode === 'read') return { hits: 0, mode: 'charge' };
  if (mode === 'cancel') return { hits: 0, mode };
  return { hits: Math.max(0, mode === 'settle' && !saysHits ? was : hits), mode };
}
