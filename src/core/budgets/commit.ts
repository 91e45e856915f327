import {
  type BlockState,
  type BudgetState,
  type EntryState,
  changedState,
  entryState,
} from '../kinds/state';
import { strike } from './block';
import {
  isBlockResting,
  MAX_OPEN,
  MAX_SUM,
  type BlockTerms,
  type Budget,
  type BudgetEntry,
} from './budget';
import { judge, type BudgetCharge, type Judgement } from './judge';

/** The counter after a charge; the same object where nothing changes. `was` and `lapsed` keep their values from before it. */
export function commit(budget: Budget, state: BudgetState, charge: BudgetCharge): BudgetState {
  return commitJudged(budget, state, charge, judge(budget, state, charge));
}

/** As `commit`, for a charge that was judged. */
export function commitJudged(
  budget: Budget,
  state: BudgetState,
  charge: BudgetCharge,
  judgement: Judgement,
): BudgetState {
  const { hits, mode } = charge;
  if (mode === 'settle' || mode === 'cancel') return settle(budget, state, hits);
  // A read adds no hits, so it never counts as refused.
  if (hits < 0 || (hits === 0 && mode === 'charge')) return chargeHits(budget, state, hits);
  const after = judgement.isOver ? refuse(budget, state, charge, judgement) : state;
  if (mode === 'reserve') return holds(budget, state, judgement) ? hold(after, hits) : after;
  return judgement.isOver ? after : chargeHits(budget, after, hits);
}

/**
 * Whether a reservation is opened: a rule that refuses nothing by itself reserves refused hits too, and a cancelled call settles.
 */
export function holds(budget: Budget, state: BudgetState, { isOver }: Judgement): boolean {
  return state.was < 0 && state.open < MAX_OPEN && (!isOver || budget.isForced);
}

function hold(state: BudgetState, hits: number): BudgetState {
  const held = Math.min(state.held + hits, MAX_SUM);
  return changedState(state, { held, open: state.open + 1 });
}

/** Closes the charge's reservation, if it is open: its hits are released, and `hits` are charged. */
function settle(budget: Budget, state: BudgetState, hits: number): BudgetState {
  if (state.was < 0) return state;
  const held = Math.max(0, state.held - state.was);
  return chargeHits(budget, changedState(state, { held, open: state.open - 1 }), hits);
}

/** Charges `hits` to every limit; negative hits are refunded. */
export function chargeHits(budget: Budget, state: BudgetState, hits: number): BudgetState {
  return hits === 0 ? state : takeAll(budget, state, hits, false);
}

export function take({ limiter }: BudgetEntry, state: EntryState, hits: number): EntryState {
  return entryState(limiter.kind.take(limiter, state, hits), state.endSeconds);
}

/**
 * A refused charge is charged where a limit asks for it, and counts for the blocks. While a block lasts, its refusals are neither
 * charged nor counted.
 */
function refuse(
  budget: Budget,
  state: BudgetState,
  charge: BudgetCharge,
  judgement: Judgement,
): BudgetState {
  if (judgement.block !== -1 && !budget.isShadow) return state;
  const struck = judgement.block === -1 ? strikeAll(budget, state, judgement) : state;
  if (charge.mode !== 'charge') return struck;
  return takeAll(budget, struck, charge.hits, true);
}

function strikeAll(budget: Budget, state: BudgetState, judgement: Judgement): BudgetState {
  const { blocks: terms } = budget;
  if (terms.length === 0) return state;
  const nowMs = Math.floor(state.atMicros / 1_000);
  const blocks = state.blocks.map((one, at): BlockState => {
    const its = terms[at] as BlockTerms;
    return !isBlockResting(budget, its) && isStruck(its.entry, judgement)
      ? strike(its, one, nowMs)
      : one;
  });
  return changedState(state, { blocks });
}

function isStruck(entry: number, { refusing }: Judgement): boolean {
  return entry === -1 || refusing.includes(entry);
}

/** Runs for each charge: loops, no closures. */
function takeAll(
  { entries }: Budget,
  state: BudgetState,
  hits: number,
  isDenied: boolean,
): BudgetState {
  const taken = new Array<EntryState>(entries.length);
  for (let at = 0; at < entries.length; at += 1) {
    const entry = entries[at] as BudgetEntry;
    const one = state.entries[at] as EntryState;
    const isTaken = !entry.isSlots && !entry.isResting && (!isDenied || entry.limiter.chargeDenied);
    taken[at] = isTaken ? take(entry, one, hits) : one;
  }
  const { atMicros, blocks, held, open, was, lapsed } = state;
  return { atMicros, entries: taken, blocks, held, open, was, lapsed };
}
