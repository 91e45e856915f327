import type { Algorithm } from './algorithm';

/** Where a counter stands at one moment. */
export interface CounterState {
  /**
   * gcra: units in use, as many to a hit as the period has ticks, of which each tick frees as many as the limit says. Else:
   * hits of this window.
   */
  readonly used: number;
  /** Hits of the window before; 0 but under sliding_window. */
  readonly previous: number;
  /**
   * Ticks since the counter's own time: the last change under gcra (0 once `used` has drained up to now), the start of the
   * window under sliding_window, always 0 under fixed_window. Negative when the clock went back before that time: the counter
   * then stands still, and every wait is longer by as much.
   */
  readonly elapsed: number;
}

/** A counter that was never used. */
export function unusedAt({ name, periodTicks }: Algorithm, nowTick: number): CounterState {
  return { used: 0, previous: 0, elapsed: name === 'sliding_window' ? nowTick % periodTicks : 0 };
}

/** A counter of which exactly so many hits are in use, and none of a window before. */
export function stateOfUsed(algorithm: Algorithm, hits: number, nowTick: number): CounterState {
  const used = algorithm.name === 'gcra' ? hits * algorithm.periodTicks : hits;
  return { ...unusedAt(algorithm, nowTick), used };
}

/** A counter so many ticks later; earlier when negative. What was stored at a tick stands here with `elapsed` 0. */
export function stateAfter(algorithm: Algorithm, state: CounterState, ticks: number): CounterState {
  if (algorithm.name === 'fixed_window') return state;
  const { used, previous, elapsed } = state;
  const now = elapsed + ticks;
  if (algorithm.name === 'gcra') {
    if (now <= 0) return { used, previous, elapsed: now };
    // A product beyond 2^53 is rounded, but never below what is in use.
    return { used: Math.max(0, used - now * algorithm.limit), previous, elapsed: 0 };
  }
  const { periodTicks } = algorithm;
  if (now < periodTicks) return { used, previous, elapsed: now };
  if (now < 2 * periodTicks) return { used: 0, previous: used, elapsed: now - periodTicks };
  return { used: 0, previous: 0, elapsed: now % periodTicks };
}

/** Units that are free, as many to a hit as the period has ticks; negative: a debt, or a limit that was lowered. */
export function freeUnits(algorithm: Algorithm, { used, previous, elapsed }: CounterState): number {
  const { size, periodTicks } = algorithm;
  const capacity = size * periodTicks;
  if (algorithm.name === 'gcra') return capacity - used;
  const fading = previous === 0 ? 0 : previous * (periodTicks - Math.max(0, elapsed));
  return capacity - fading - used * periodTicks;
}

/** Whole hits that would be admitted now. */
export function freeHits(algorithm: Algorithm, state: CounterState): number {
  return Math.max(0, Math.floor(freeUnits(algorithm, state) / algorithm.periodTicks));
}

/** Hits in use, a part of one counted as one; beyond the limit when it was lowered. */
export function usedHits(algorithm: Algorithm, state: CounterState): number {
  const { size, periodTicks } = algorithm;
  return size + Math.ceil(-freeUnits(algorithm, state) / periodTicks);
}
