import type { Algorithm } from './algorithm';
import { freeUnits, type CounterState } from './counter-state';
import { millisOfTicks } from './ticks';

/** Asks of one batch for one counter, one after the other: so many times the same hits. */
export interface Asks {
  /** Hits of each; 0 looks, negative gives back. Beyond 2^53 it has lost digits, which changes no answer. */
  readonly hits: number;
  /** 1 for looks and for hits that are given back. */
  readonly times: number;
}

/** A debt stops here: beyond, integers are no longer exact. */
const MAX_UNITS = Number.MAX_SAFE_INTEGER;
const MAX_HITS_OF_WINDOW = 100_000_000;

/** A key outlives what it holds by this, so that no answer depends on when a store forgets. */
const SPARE_MS = 1_000;

/** How many of the asks are admitted, whole: the first ones. */
export function countAdmitted(
  algorithm: Algorithm,
  state: CounterState,
  { hits, times }: Asks,
): number {
  if (hits <= 0 || hits > algorithm.size) return 0;
  const free = Math.max(0, freeUnits(algorithm, state));
  return Math.min(times, Math.floor(free / (hits * algorithm.periodTicks)));
}

/** The counter after the first `asked` of the asks, of which `admitted` fit. */
export function stateAfterAsks(
  algorithm: Algorithm,
  state: CounterState,
  hits: number,
  asked: number,
  admitted: number,
): CounterState {
  const charged = algorithm.chargeDenied || hits < 0 ? asked : Math.min(asked, admitted);
  if (hits === 0 || charged === 0) return state;
  const { used, previous, elapsed } = state;
  const unitsOfHit = algorithm.name === 'gcra' ? algorithm.periodTicks : 1;
  const after = Math.min(used + charged * hits * unitsOfHit, mostUsed(algorithm));
  return { used: Math.max(0, after), previous, elapsed };
}

function mostUsed({ name }: Algorithm): number {
  return name === 'sliding_window' ? MAX_HITS_OF_WINDOW : MAX_UNITS;
}

/** The counter after all asks; undefined when nothing has to be written, as for a look and for what was refused. */
export function applyAsks(
  algorithm: Algorithm,
  state: CounterState,
  asks: Asks,
): CounterState | undefined {
  const { hits, times } = asks;
  if (hits === 0) return undefined;
  const admitted = countAdmitted(algorithm, state, asks);
  if (hits > 0 && admitted === 0 && !algorithm.chargeDenied) return undefined;
  return stateAfterAsks(algorithm, state, hits, times, admitted);
}

/** Whether a counter says the same as none: its key is deleted. */
export function isUnused({ used, previous }: CounterState): boolean {
  return used === 0 && previous === 0;
}

/** Milliseconds for which a counter of gcra or sliding_window has to be kept after it was written. */
export function lifetimeMs(algorithm: Algorithm, { used, elapsed }: CounterState): number {
  const { name, limit, periodTicks, tickMicros } = algorithm;
  const ticks = name === 'gcra' ? Math.ceil(used / limit) : 2 * periodTicks;
  return millisOfTicks(ticks - elapsed, tickMicros) + SPARE_MS;
}
