import type { Operation, BudgetState, Limiter, Kind, CounterState } from '../kinds/kind';
import type { EntryState } from '../kinds/state';
import { WINDOW_RANGE, fixed } from '../kinds/window';
import { isRecalledWhole } from '../kinds/refusal';
import { countAdmitted } from '../kinds/whole';
import { advanceBudget, isAstrayBudget, NO_LAPSES, unusedBudget } from './advance';
import { blockEndMs } from './block';
import type { Budget, BudgetEntry, BudgetLimiter } from './budget';
import { chargeHits, commit } from './commit';
import { chargeOf, blockAt, freeUnits, judge } from './judge';
import { outcomeOfBudget, type BudgetOutcome } from './outcome';
import { recordOf, stateOf } from './record';

/**
 * Several limits, reservations and blocks under one key, with the interface of a kind. It composes the kinds of its limits
 * without knowing them; no rule names it, so it is not in the table.
 */
export const budgetKind = {
  letter: 'b',
  words: { name: 'budget', feature: 'rate_limits', ofLimiter: () => [] },
  serves: () => false,
  range: WINDOW_RANGE,
  hasBurst: false,
  readsFirst: true,
  isRecord: true,
  lua: undefined,
  ofHits(limiter, hits, nowTick) {
    const { budget, tickMicros } = limiter as BudgetLimiter;
    return chargeHits(budget, unusedBudget(budget, momentOf(nowTick * tickMicros)), hits);
  },
  advance(limiter, state, ticks) {
    const { budget, tickMicros } = limiter as BudgetLimiter;
    return advanceBudget(budget, state, NO_LAPSES, momentOf(state.atMicros + ticks * tickMicros));
  },
  free: (limiter, state) => freeHits(limiter as BudgetLimiter, state),
  take: (limiter, state, hits) => chargeHits((limiter as BudgetLimiter).budget, state, hits),
  ticksUntilReset: (limiter, state) => ticksOfLife(limiter as BudgetLimiter, state),
  ticksUntilFree: (limiter, state) => ticksOfLife(limiter as BudgetLimiter, state),
  hitsCharged: () => undefined,
  isAnyRefused: (operation, state) => refuses(operation, state),
  outcome(operation, state, hits, later, second) {
    const { times } = operation;
    if (isPart(operation, hits)) return outcomeOfPart(operation, state, { hits, later }, second);
    const number = hits > 0 ? times - later / hits : 1;
    return outcomeOfBudget(
      budgetOf(operation),
      beforeCharge(operation, state, number),
      chargeOf(operation, state, hits),
      second,
    );
  },
  heldOutcome(operation, state, hits, second): BudgetOutcome {
    const read = outcomeOfBudget(budgetOf(operation), state, { hits: 0, mode: 'charge' }, second);
    const over = read.isOver ? Math.max(hits, 0) : 0;
    // Lapsed hits are reported by the next call that is counted.
    return { ...read, over, lapsed: 0 };
  },
  commit(operation, state) {
    const after = afterCharges(operation, state);
    return after === state ? undefined : after;
  },
  refuses,
  isRecalled,
  refusal(operation, state, isHeld) {
    if (isHeld || !isRecalled(operation)) return undefined;
    const after = afterCharges(operation, state);
    const isRefusing = hasBlocks(operation)
      ? isShut(budgetOf(operation), after)
      : refuses(operation, state);
    return isRefusing ? after : 'none';
  },
  isTakenBack: ({ limiter }, state) => freeHits(limiter as Limiter & BudgetLimiter, state) < 1,
  isAstray(limiter, state, ticks) {
    const { budget, tickMicros } = limiter as BudgetLimiter;
    return isAstrayBudget(budget, state, momentOf(state.atMicros + ticks * tickMicros));
  },
  ticksOfLife: (limiter, state) => ticksOfLife(limiter as BudgetLimiter, state),
  encode: (limiter, state) => recordOf((limiter as BudgetLimiter).budget, state),
  decode(limiter, value, nowTick) {
    const { budget, tickMicros } = limiter as BudgetLimiter;
    return stateOf(budget, value, momentOf(nowTick * tickMicros));
  },
} as const satisfies Kind<BudgetState>;

/** Whether these hits are a part of one charge, which is admitted or refused whole. */
function isPart({ times, hits: all, reservation }: Operation, hits: number): boolean {
  return times === 1 && reservation === undefined && hits > 0 && hits < Number(all);
}

/** The outcome for a part: the outcome of the whole; blocks that it began are counted once. */
function outcomeOfPart(
  operation: Operation,
  state: BudgetState,
  { hits, later }: { readonly hits: number; readonly later: number },
  second: number,
): BudgetOutcome {
  const all = Number(operation.hits);
  const whole = outcomeOfBudget(budgetOf(operation), state, { hits: all, mode: 'charge' }, second);
  const { over, blockedHits, blocksBegun, lapsed } = whole;
  const isFirst = later + hits === all;
  return {
    ...whole,
    over: Math.min(over, hits),
    blockedHits: Math.min(blockedHits, hits),
    blocksBegun: isFirst ? blocksBegun : 0,
    lapsed: isFirst ? lapsed : 0,
  };
}

function momentOf(micros: number): { readonly micros: number; readonly nowSeconds: number } {
  return { micros, nowSeconds: micros / 1_000_000 };
}

function budgetOf({ limiter }: Operation): Budget {
  return (limiter as Limiter & BudgetLimiter).budget;
}

function refuses(operation: Operation, state: BudgetState): boolean {
  const budget = budgetOf(operation);
  const hits = Number(operation.hits);
  if (operation.times > 1)
    return (
      countAdmitted(operation.limiter, state, { hits, times: operation.times }) < operation.times
    );
  const charge = chargeOf(operation, state, hits);
  return judge(budget, charge.hits < 0 ? chargeHits(budget, state, charge.hits) : state, charge)
    .isOver;
}

/** Whether a known state may answer these charges: for a rule that only blocks, a lasting block alone may. */
function isRecalled(operation: Operation): boolean {
  if (operation.reservation !== undefined || operation.hits <= 0) return false;
  return (
    hasBlocks(operation) ||
    (budgetOf(operation).reserve === undefined && isRecalledWhole(operation))
  );
}

function hasBlocks(operation: Operation): boolean {
  return budgetOf(operation).blocks.length > 0;
}

/** Hits that every limit admits; negative: a debt, or a block. */
function freeHits({ budget }: Pick<BudgetLimiter, 'budget'>, state: BudgetState): number {
  if (isShut(budget, state)) return -1;
  let least = Infinity;
  for (let at = 0; at < budget.entries.length; at += 1) {
    const entry = budget.entries[at] as BudgetEntry;
    if (entry.isSlots || entry.isResting) continue;
    least = Math.min(least, Math.floor(freeUnits(entry, state, at) / entry.limiter.periodTicks));
  }
  return least;
}

function afterCharges(operation: Operation, state: BudgetState): BudgetState {
  return operation.times === 1
    ? commit(budgetOf(operation), state, chargeOf(operation, state, Number(operation.hits)))
    : beforeCharge(operation, state, operation.times + 1);
}

/** A block refuses every hit. */
function isShut(budget: Budget, state: BudgetState): boolean {
  return !budget.isShadow && blockAt(budget, state) !== -1;
}

/** The counter before the charge with this number, from 1: earlier ones were admitted as long as they fit. */
function beforeCharge(operation: Operation, state: BudgetState, number: number): BudgetState {
  if (number === 1) return state;
  const budget = budgetOf(operation);
  const hits = Number(operation.hits);
  const admitted = Math.min(
    number - 1,
    countAdmitted(operation.limiter, state, { hits, times: operation.times }),
  );
  const refused = number - 1 - admitted;
  const charged = chargeHits(budget, state, admitted * hits);
  if (refused === 0) return charged;
  const refusedAll = { hits: refused * hits, mode: 'charge' } as const;
  // One charge with the sum of all refused hits is refused as they are.
  return commit(budget, charged, refusedAll);
}

function ticksOfLife({ budget, tickMicros }: BudgetLimiter, state: BudgetState): number {
  let micros = 0;
  for (let at = 0; at < budget.entries.length; at += 1) {
    const entry = budget.entries[at] as BudgetEntry;
    if (!entry.isSlots) micros = Math.max(micros, microsOfLife(entry, state, at));
  }
  for (const one of state.blocks)
    micros = Math.max(micros, blockEndMs(one) * 1_000 - state.atMicros);
  return Math.ceil(micros / tickMicros);
}

function microsOfLife({ limiter, windowAt }: BudgetEntry, state: BudgetState, at: number): number {
  const one = state.entries[at] as EntryState;
  return windowAt === undefined
    ? limiter.kind.ticksOfLife(limiter, one) * limiter.tickMicros
    : one.endSeconds * 1_000_000 - state.atMicros;
}

/**
 * `in_flight` (budgets.md section 5) in the shape of a kind: `used` is the number of open reservations, which opening and closing
 * change. Hits change nothing.
 */
export const slots = {
  ...fixed,
  letter: 'i',
  words: { name: 'in_flight', feature: 'algorithm: in_flight', ofLimiter: () => [] },
  serves: () => false,
  take: (_, state) => state,
} as const satisfies Kind<CounterState>;
