import type { BlockState, BudgetState } from '../kinds/state';
import type { BlockTerms } from './budget';

export const NO_BLOCK: BlockState = { strikes: 0, spanEndMs: 0, untilMs: 0, tookMs: 0, quietMs: 0 };

export function isBlocked({ untilMs }: BlockState, nowMs: number): boolean {
  return nowMs < untilMs;
}

/** Milliseconds for which blocks still refuse every hit. */
export function msOfBlocks({ blocks, atMicros }: BudgetState): number {
  const nowMs = atMicros / 1_000;
  return blocks.reduce(
    (most, one) => (isBlocked(one, nowMs) ? Math.max(most, one.untilMs - nowMs) : most),
    0,
  );
}

/** After a refusal of a counter that is not blocked (budgets.md section 6); it begins a block where `untilMs` is later than now. */
export function strike(terms: BlockTerms, state: BlockState, nowMs: number): BlockState {
  const isNewSpan = nowMs >= state.spanEndMs;
  const strikes = isNewSpan ? 1 : state.strikes + 1;
  // So long without a refusal and a block, and the next block is the first again.
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

/** The millisecond from which it says the same as none: a refusal then begins anew. */
export function blockEndMs({ spanEndMs, tookMs, quietMs }: BlockState): number {
  return Math.max(spanEndMs, tookMs === 0 ? 0 : quietMs + tookMs);
}
