import type { BlockState, BudgetState } from '../kinds/state';
import { SPARE_SECONDS } from '../kinds/ticks';
import { isBlockResting, type BlockTerms, type Budget } from './budget';

export const NO_BLOCK: BlockState = { strikes: 0, spanEndMs: 0, untilMs: 0, tookMs: 0, quietMs: 0 };

/**
 * Clamps blocks to what is possible: a block lasts at most `upToMs`, a span at most `withinMs`. Whatever exceeds that by more than
 * some seconds was written by a wrong clock. Returns the same list when nothing exceeds it.
 */
export function believedBlocks(
  { blocks: terms }: Pick<Budget, 'blocks'>,
  blocks: readonly BlockState[],
  nowMs: number,
): readonly BlockState[] {
  for (let at = 0; at < terms.length; at += 1)
    if (believed(terms[at] as BlockTerms, blocks[at] as BlockState, nowMs) !== blocks[at])
      return blocks.map((one, place) => believed(terms[place] as BlockTerms, one, nowMs));
  return blocks;
}

function believed(terms: BlockTerms, state: BlockState, nowMs: number): BlockState {
  const { withinMs } = terms;
  const upToMs = Math.max(terms.upToMs, terms.forMs);
  const { untilMs, spanEndMs, quietMs } = state;
  const latestMs = nowMs + SPARE_SECONDS * 1_000;
  const isAstray =
    untilMs > latestMs + upToMs || spanEndMs > latestMs + withinMs || quietMs > latestMs + upToMs;
  if (!isAstray) return state;
  return {
    ...state,
    untilMs: Math.min(untilMs, nowMs + upToMs),
    spanEndMs: Math.min(spanEndMs, nowMs + withinMs),
    quietMs: Math.min(quietMs, nowMs + upToMs),
  };
}

export function isBlocked({ untilMs }: BlockState, nowMs: number): boolean {
  return nowMs < untilMs;
}

/** Milliseconds for which the blocks still refuse every hit. */
export function msOfBlocks(
  budget: Pick<Budget, 'blocks' | 'entries'>,
  { blocks, atMicros }: BudgetState,
): number {
  const nowMs = atMicros / 1_000;
  return blocks.reduce((most, { untilMs }, at) => {
    const isResting = isBlockResting(budget, budget.blocks[at] as BlockTerms);
    return isResting ? most : Math.max(most, untilMs - nowMs);
  }, 0);
}

/** Counts a refusal of a counter that is not blocked (budgets.md section 6); a block begins where `untilMs` is later than now. */
export function strike(terms: BlockTerms, state: BlockState, nowMs: number): BlockState {
  const isNewSpan = nowMs >= state.spanEndMs;
  const strikes = isNewSpan ? 1 : state.strikes + 1;
  // After this time without a refusal or a block, the next block is the first again.
  const tookMs = nowMs - state.quietMs >= state.tookMs ? 0 : state.tookMs;
  if (strikes < terms.after) {
    const spanEndMs = isNewSpan ? nowMs + terms.withinMs : state.spanEndMs;
    return { strikes, spanEndMs, untilMs: state.untilMs, tookMs, quietMs: nowMs };
  }
  const lastsMs =
    tookMs === 0 ? terms.forMs : Math.max(terms.forMs, Math.min(2 * tookMs, terms.upToMs));
  const untilMs = nowMs + lastsMs;
  return { strikes: 0, spanEndMs: 0, untilMs, tookMs: lastsMs, quietMs: untilMs };
}

/** The millisecond from which the state is equivalent to none: the next refusal starts anew. */
export function blockEndMs({ spanEndMs, tookMs, quietMs }: BlockState): number {
  return Math.max(spanEndMs, tookMs === 0 ? 0 : quietMs + tookMs);
}
