import { countAdmitted } from '../core/algorithms/apply-asks';
import { outcomeOf } from '../core/algorithms/outcome';
import { stateAfter, type CounterState } from '../core/algorithms/counter-state';
import { tickAt } from '../core/algorithms/ticks';
import { type Increment } from '../core/ports';

/** Where a counter stood, and when that was by the clock of this process. */
export interface KnownState {
  readonly state: CounterState;
  readonly atSeconds: number;
  /** Unix second from which the ask that it refused would fit. */
  readonly endSeconds: number;
}

/** The standing now, if no ask fits; undefined also when the clock went back, after which it cannot be known. */
export function stateRefusing(
  knownState: KnownState,
  { algorithm, hits, times = 1 }: Increment,
  nowSeconds: number,
): CounterState | undefined {
  if (algorithm === undefined || nowSeconds < knownState.atSeconds) return undefined;
  const { tickMicros } = algorithm;
  const ticks = tickAt(nowSeconds, tickMicros) - tickAt(knownState.atSeconds, tickMicros);
  const state = stateAfter(algorithm, knownState.state, ticks);
  const admitted = countAdmitted(algorithm, state, { hits: Number(hits), times });
  return admitted === 0 ? state : undefined;
}

/** The Unix second from which an ask that a counter refuses would fit. */
export function endOfRefusal(
  { algorithm, hits, windowEndSeconds }: Increment,
  state: CounterState,
  nowSeconds: number,
): number {
  if (algorithm === undefined || algorithm.name === 'fixed_window') return windowEndSeconds;
  const { resetSeconds } = outcomeOf(algorithm, state, { hits: Number(hits), times: 1 }, 1);
  return Math.ceil(nowSeconds) + resetSeconds;
}
