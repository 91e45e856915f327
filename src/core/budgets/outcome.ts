import type { Outcome } from '../kinds/kind';
import { secondsOfTicks } from '../kinds/ticks';
import type { BudgetState } from '../kinds/state';
import { msOfBlocks } from './block';
import type { Budget, BudgetEntry, BudgetLimiter } from './budget';
import { chargeHits, commitJudged } from './commit';
import {
  entryAt,
  freeUnits,
  judge,
  refusesEntry,
  type BudgetCharge,
  type Judgement,
} from './judge';

/** The answer of one limit of a budget. */
export type EntryOutcome = Pick<Outcome, 'isOver' | 'remaining' | 'used' | 'resetSeconds'>;

/** The answer to one charge: the figures of the nearest limit, and those of all limits. */
export interface BudgetOutcome extends Outcome {
  /** The index of the nearest limit, whose figures these are. */
  readonly entry: number;
  readonly entries: readonly EntryOutcome[];
  /** Number of blocks that this charge began. */
  readonly blocksBegun: number;
  /** Hits that a block refused, or would if not in shadow mode. */
  readonly blockedHits: number;
  /** Hits that it reserved; -1: it opened no reservation. */
  readonly reserved: number;
  /** Hits that it charged in place of reserved ones; -1: it closed no reservation. */
  readonly settled: number;
  readonly lapsed: number;
}

/** A slot may become free at any moment: a reservation may be settled. */
const SOON_SECONDS = 1;

/** The outcome of one charge, judged by the counter before it (budgets.md section 3); `second`: now, by this process. */
export function outcomeOfBudget(
  budget: Budget,
  state: BudgetState,
  charge: BudgetCharge,
  second: number,
): BudgetOutcome {
  // A refund is over where it does not end the debt.
  const met = charge.hits < 0 ? chargeHits(budget, state, charge.hits) : state;
  const judgement = judge(budget, met, charge);
  const after = commitJudged(budget, state, charge, judgement);
  const { isOver } = judgement;
  const entries = budget.entries.map((entry, at) =>
    outcomeOfEntry({ entry, at, after }, charge, judgement, second),
  );
  const entry = isOver ? longestWait(budget, entries, judgement) : tightest(budget, entries);
  const nearest = entries[entry] as EntryOutcome;
  const hits = Math.max(charge.hits, 0);
  const { resetSeconds: reset } = nearest;
  // Field by field, see kinds/state.ts.
  const outcome = {
    isOver,
    remaining: isOver ? 0 : nearest.remaining,
    used: nearest.used,
    over: isOver ? hits : 0,
    resetSeconds: isOver ? Math.max(reset, secondsOfBlocks(budget, after), SOON_SECONDS) : reset,
    entry,
    entries,
    blocksBegun: countBegun(state, after),
    blockedHits: judgement.block === -1 ? 0 : hits,
    reserved: after.open > state.open ? hits : -1,
    settled: after.open < state.open ? hits : -1,
    lapsed: state.lapsed,
  };
  return isShutBy(budget, judgement)
    ? behindBlock(outcome, { budget, after, charge, second })
    : outcome;
}

function isShutBy({ isShadow }: Budget, { block }: Judgement): boolean {
  return block !== -1 && !isShadow;
}

interface EntryPlace {
  readonly entry: BudgetEntry;
  readonly at: number;
  readonly after: BudgetState;
}

function outcomeOfEntry(
  place: EntryPlace,
  charge: BudgetCharge,
  { refusing }: Judgement,
  second: number,
): EntryOutcome {
  const { entry, at, after } = place;
  const { size, periodTicks } = entry.limiter;
  if (entry.isResting) return { isOver: false, remaining: size, used: 0, resetSeconds: 0 };
  const remaining = Math.min(
    size,
    Math.max(0, Math.floor(freeUnits(entry, after, at) / periodTicks)),
  );
  const used = size - remaining;
  return refusing.includes(at)
    ? { isOver: true, remaining: 0, used, resetSeconds: waitSeconds(place, charge, second) }
    : { isOver: false, remaining, used, resetSeconds: resetSeconds(place, second) };
}

function resetSeconds({ entry, at, after }: EntryPlace, second: number): number {
  const { limiter, isSlots, windowAt } = entry;
  if (isSlots) return 0;
  const state = entryAt(after, entry, at);
  if (windowAt !== undefined) return Math.max(0, state.endSeconds - second);
  // Reserved hits will be charged: until then they do not become free.
  const settled = limiter.kind.take(limiter, state, after.held);
  return secondsOfTicks(limiter.kind.ticksUntilReset(limiter, settled), limiter.tickMicros);
}

/**
 * Seconds, at least 1, until the charge would be admitted without further charges; if it never would be, until the counter is idle.
 */
function waitSeconds(place: EntryPlace, charge: BudgetCharge, second: number): number {
  const { entry, at, after } = place;
  const { limiter, isSlots, windowAt } = entry;
  const hits = Math.max(charge.hits, charge.mode === 'reserve' ? 1 : 0);
  const state = entryAt(after, entry, at);
  const fitsUnheld =
    hits <= limiter.size && limiter.kind.free(limiter, state) >= hits * limiter.periodTicks;
  if (isSlots || fitsUnheld) return SOON_SECONDS;
  if (windowAt !== undefined || hits > limiter.size)
    return Math.max(SOON_SECONDS, resetSeconds(place, second));
  const ticks = limiter.kind.ticksUntilFree(limiter, state, hits);
  return Math.max(SOON_SECONDS, secondsOfTicks(ticks, limiter.tickMicros));
}

function countBegun(before: BudgetState, after: BudgetState): number {
  if (after.blocks === before.blocks) return 0;
  return after.blocks.filter(({ untilMs }, at) => untilMs !== before.blocks[at]?.untilMs).length;
}

/** Seconds until the last block ends; 0: none lasts, or the rule is in shadow mode. */
function secondsOfBlocks(budget: Budget, state: BudgetState): number {
  return budget.isShadow ? 0 : Math.ceil(msOfBlocks(budget, state) / 1_000);
}

interface Shut {
  readonly budget: Budget;
  readonly after: BudgetState;
  readonly charge: BudgetCharge;
  readonly second: number;
}

/** A block refuses until it ends, or until the limits would admit, if that is later. */
function behindBlock(
  outcome: BudgetOutcome,
  { budget, after, charge, second }: Shut,
): BudgetOutcome {
  const one = { ...charge, hits: Math.max(charge.hits, 1) };
  let longest = { entry: firstAwake(budget), resetSeconds: 0 };
  for (const [at, entry] of budget.entries.entries()) {
    if (!refusesEntry(entry, after, at, one)) continue;
    const resetSeconds = waitSeconds({ entry, at, after }, one, second);
    if (resetSeconds > longest.resetSeconds) longest = { entry: at, resetSeconds };
  }
  const { used } = outcome.entries[longest.entry] as EntryOutcome;
  const resetSeconds = Math.max(longest.resetSeconds, secondsOfBlocks(budget, after), SOON_SECONDS);
  return { ...outcome, entry: longest.entry, used, resetSeconds };
}

/** The refusing entry with the longest wait; the first entry, where a block refuses or too many reservations are open. */
function longestWait(
  budget: Budget,
  entries: readonly EntryOutcome[],
  { refusing }: Judgement,
): number {
  return refusing.reduce(
    (longest, at) => (waitAt(entries, at) > waitAt(entries, longest) ? at : longest),
    refusing[0] ?? firstAwake(budget),
  );
}

function firstAwake({ entries }: Budget): number {
  let at = 0;
  while (entries[at]?.isResting === true) at += 1;
  return at;
}

function waitAt(entries: readonly EntryOutcome[], at: number): number {
  return (entries[at] as EntryOutcome).resetSeconds;
}

/** The limit with the smallest share left; on a tie the one with the shorter period. */
function tightest(budget: Budget, entries: readonly EntryOutcome[]): number {
  let chosen = firstAwake(budget);
  for (let at = chosen + 1; at < entries.length; at += 1)
    if (budget.entries[at]?.isResting === false && isTighter(budget, entries, at, chosen))
      chosen = at;
  return chosen;
}

function isTighter(
  budget: Budget,
  entries: readonly EntryOutcome[],
  at: number,
  than: number,
): boolean {
  const share = shareAt(budget, entries, at);
  const other = shareAt(budget, entries, than);
  if (share !== other) return share < other;
  return periodAt(budget, at) < periodAt(budget, than);
}

function shareAt({ entries }: Budget, outcomes: readonly EntryOutcome[], at: number): number {
  const { size } = (entries[at] as BudgetEntry).limiter;
  return size === 0 ? 0 : (outcomes[at] as EntryOutcome).remaining / size;
}

function periodAt({ entries }: Budget, at: number): number {
  return (entries[at] as BudgetEntry).periodSeconds;
}

/** Why a single hit is refused, as its answer would say. */
interface OneRefused {
  /** The limit that refuses it for longest. */
  readonly limit: number;
  readonly used: number;
  readonly resetSeconds: number;
}

/**
 * Whether a counter refuses a single hit now, or a single reservation where the rule takes these; undefined: it does not. Blocks
 * that this hit itself would begin are not considered.
 */
export function refusalOfOne(
  { budget }: Pick<BudgetLimiter, 'budget'>,
  state: BudgetState,
  second: number,
): OneRefused | undefined {
  const mode = budget.reserve === undefined ? 'charge' : 'reserve';
  const blocks = budget.blocks.map((terms) => ({ ...terms, after: Infinity }));
  const asked = outcomeOfBudget({ ...budget, blocks }, state, { hits: 1, mode }, second);
  if (!asked.isOver) return undefined;
  const { used, resetSeconds, entry } = asked;
  return { limit: (budget.entries[entry] as BudgetEntry).limiter.limit, used, resetSeconds };
}
