import type { Algorithm } from './algorithm';
import { countAdmitted, stateAfterAsks, type Asks } from './apply-asks';
import { freeHits, freeUnits, type CounterState } from './counter-state';
import { secondsOfTicks } from './ticks';

/** What one ask is answered. */
export interface Outcome {
  readonly isOver: boolean;
  /** Hits that would be admitted now; 0 when over. */
  readonly remaining: number;
  /** Hits in use after this ask: what `nearHits` compares with its threshold. */
  readonly used: number;
  /**
   * Over: seconds until this ask would be admitted without other requests, or until nothing is in use when it never will be. Else:
   * until nothing is in use (gcra) or the window ends (sliding_window). 0 under fixed_window, which knows its end.
   */
  readonly resetSeconds: number;
}

/**
 * The outcome of the ask with this number, from 1, among those that met the counter where it stood. An ask that was held
 * back looks: its hits are 0.
 */
export function outcomeOf(
  algorithm: Algorithm,
  state: CounterState,
  asks: Asks,
  number: number,
): Outcome {
  const { hits } = asks;
  const admitted = countAdmitted(algorithm, state, asks);
  const after = stateAfterAsks(algorithm, state, hits, number, admitted);
  const isOver = hits > 0 ? number > admitted : freeUnits(algorithm, after) < 0;
  const free = freeHits(algorithm, after);
  const ticks = isOver
    ? ticksUntilItFits(algorithm, after, Math.max(hits, 0))
    : ticksUntilReset(algorithm, after);
  const seconds = secondsOfTicks(ticks, algorithm.tickMicros);
  return {
    isOver,
    remaining: isOver ? 0 : free,
    used: algorithm.size - free,
    resetSeconds: isOver && algorithm.name !== 'fixed_window' ? Math.max(1, seconds) : seconds,
  };
}

/** How many of an admitted ask's hits lie above the threshold, by the hits in use after it. */
export function nearHits(threshold: number, hits: number, used: number): number {
  return Math.max(0, Math.min(hits, used - threshold));
}

function ticksUntilReset({ name, limit, periodTicks }: Algorithm, state: CounterState): number {
  if (name === 'fixed_window') return 0;
  if (name === 'sliding_window') return periodTicks - state.elapsed;
  return state.used === 0 ? 0 : Math.ceil(state.used / limit) - state.elapsed;
}

function ticksUntilItFits(algorithm: Algorithm, state: CounterState, hits: number): number {
  const { name, size, limit, periodTicks } = algorithm;
  const { elapsed } = state;
  if (hits > size || name === 'fixed_window') return ticksUntilReset(algorithm, state);
  if (name === 'sliding_window') return ticksUntilWindowFits(algorithm, state, hits);
  const missing = hits * periodTicks - freeUnits(algorithm, state);
  return Math.ceil(missing / limit) - elapsed;
}

/** What this window holds stays until its end; only the window before fades meanwhile. */
function ticksUntilWindowFits(
  { limit, periodTicks }: Algorithm,
  { used, previous, elapsed }: CounterState,
  hits: number,
): number {
  if (used + hits <= limit)
    return ticksUntilFaded(limit - used - hits, previous, periodTicks) - elapsed;
  return periodTicks - elapsed + ticksUntilFaded(limit - hits, used, periodTicks);
}

/** Ticks from the start of a window until no more than `room` is left of the `previous` hits. */
function ticksUntilFaded(room: number, previous: number, periodTicks: number): number {
  return Math.max(0, periodTicks - Math.floor((room * periodTicks) / previous));
}
