import type { Asked, BudgetState, Limiter, Kind } from '../kinds/kind';
import type { EntryState } from '../kinds/state';
import { WINDOW_RANGE } from '../kinds/window';
import { isRecalledWhole } from '../kinds/refusal';
import { countAdmitted } from '../kinds/whole';
import { advanceBudget, isAstrayBudget, NO_LAPSES, unusedBudget } from './advance';
import { blockEndMs } from './block';
import type { Budget, BudgetEntry, BudgetLimiter } from './budget';
import { charge, commit } from './commit';
import { askOf, blockAt, freeUnits, judge } from './judge';
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
  looks: true,
  hasOwnForm: true,
  lua: undefined,
  ofHits(limiter, hits, nowTick) {
    const { budget, tickMicros } = limiter as BudgetLimiter;
    return charge(budget, unusedBudget(budget, momentOf(nowTick * tickMicros)), hits);
  },
  advance(limiter, state, ticks) {
    const { budget, tickMicros } = limiter as BudgetLimiter;
    return advanceBudget(budget, state, NO_LAPSES, momentOf(state.atMicros + ticks * tickMicros));
  },
  free: (limiter, state) => freeHits(limiter as BudgetLimiter, state),
  take: (limiter, state, hits) => charge((limiter as BudgetLimiter).budget, state, hits),
  ticksUntilReset: (limiter, state) => ticksOfLife(limiter as BudgetLimiter, state),
  ticksUntilFree: (limiter, state) => ticksOfLife(limiter as BudgetLimiter, state),
  hitsAsked: () => undefined,
  isAnyRefused: (asked, state) => refuses(asked, state),
  outcome(asked, state, hits, later, second) {
    const { times } = asked;
    if (isPart(asked, hits)) return outcomeOfPart(asked, state, { hits, later }, second);
    const number = hits > 0 ? times - later / hits : 1;
    return outcomeOfBudget(
      budgetOf(asked),
      beforeAsk(asked, state, number),
      askOf(asked, state, hits),
      second,
    );
  },
  heldOutcome(asked, state, hits, second): BudgetOutcome {
    const looked = outcomeOfBudget(budgetOf(asked), state, { hits: 0, mode: 'ask' }, second);
    const over = looked.isOver ? Math.max(hits, 0) : 0;
    // Lapsed hits are reported by the next call that is counted.
    return { ...looked, over, lapsed: 0 };
  },
  commit(asked, state) {
    const after = afterAsks(asked, state);
    return after === state ? undefined : after;
  },
  refuses,
  isRecalled,
  refusal(asked, state, isHeld) {
    if (isHeld || !isRecalled(asked)) return undefined;
    const after = afterAsks(asked, state);
    const isRefusing = hasBlocks(asked) ? isShut(budgetOf(asked), after) : refuses(asked, state);
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
function isPart({ times, hits: all, reservation }: Asked, hits: number): boolean {
  return times === 1 && reservation === undefined && hits > 0 && hits < Number(all);
}

/** The outcome for a part: the outcome of the whole; blocks that it began are counted once. */
function outcomeOfPart(
  asked: Asked,
  state: BudgetState,
  { hits, later }: { readonly hits: number; readonly later: number },
  second: number,
): BudgetOutcome {
  const all = Number(asked.hits);
  const whole = outcomeOfBudget(budgetOf(asked), state, { hits: all, mode: 'ask' }, second);
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

function budgetOf({ limiter }: Asked): Budget {
  return (limiter as Limiter & BudgetLimiter).budget;
}

function refuses(asked: Asked, state: BudgetState): boolean {
  const budget = budgetOf(asked);
  const hits = Number(asked.hits);
  if (asked.times > 1)
    return countAdmitted(asked.limiter, state, { hits, times: asked.times }) < asked.times;
  const ask = askOf(asked, state, hits);
  return judge(budget, ask.hits < 0 ? charge(budget, state, ask.hits) : state, ask).isOver;
}

/** Whether a known state may answer these charges: for a rule that only blocks, a lasting block alone may. */
function isRecalled(asked: Asked): boolean {
  if (asked.reservation !== undefined || asked.hits <= 0) return false;
  return hasBlocks(asked) || (budgetOf(asked).reserve === undefined && isRecalledWhole(asked));
}

function hasBlocks(asked: Asked): boolean {
  return budgetOf(asked).blocks.length > 0;
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

function afterAsks(asked: Asked, state: BudgetState): BudgetState {
  return asked.times === 1
    ? commit(budgetOf(asked), state, askOf(asked, state, Number(asked.hits)))
    : beforeAsk(asked, state, asked.times + 1);
}

/** A block refuses every hit. */
function isShut(budget: Budget, state: BudgetState): boolean {
  return !budget.isShadow && blockAt(budget, state) !== -1;
}

/** The counter before the charge with this number, from 1: earlier ones were admitted as long as they fit. */
function beforeAsk(asked: Asked, state: BudgetState, number: number): BudgetState {
  if (number === 1) return state;
  const budget = budgetOf(asked);
  const hits = Number(asked.hits);
  const admitted = Math.min(
    number - 1,
    countAdmitted(asked.limiter, state, { hits, times: asked.times }),
  );
  const refused = number - 1 - admitted;
  const charged = charge(budget, state, admitted * hits);
  if (refused === 0) return charged;
  const refusedAll = { hits: refused * hits, mode: 'ask' } as const;
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
