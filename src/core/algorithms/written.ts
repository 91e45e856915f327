import { lifetimeMs } from './apply-asks';
import type { Algorithm } from './algorithm';
import { stateAfter, stateOfUsed, type CounterState } from './counter-state';
import { tickAt } from './ticks';

/** The value of a counter of gcra or sliding_window in a store, and how long it has to be kept. */
export interface WrittenCounter {
  readonly value: string;
  readonly lifetimeMs: number;
}

/** A counter of which exactly so many hits are in use, and none of a window before. */
export function writeUsed(algorithm: Algorithm, hits: number, nowSeconds: number): WrittenCounter {
  const { name, periodTicks, tickMicros } = algorithm;
  const tick = tickAt(nowSeconds, tickMicros);
  const state = stateOfUsed(algorithm, hits, tick);
  const used = String(state.used);
  const value =
    name === 'gcra'
      ? `${used} ${String(tick)}`
      : `${String(Math.floor(tick / periodTicks))} 0 ${used}`;
  return { value, lifetimeMs: lifetimeMs(algorithm, state) };
}

/** Where a written counter stands now; undefined: the value is none of this algorithm. */
export function readWritten(
  algorithm: Algorithm,
  value: string,
  nowSeconds: number,
): CounterState | undefined {
  const tick = tickAt(nowSeconds, algorithm.tickMicros);
  const numbers = /^\d+(?: \d+)+$/.test(value) ? value.split(' ').map(Number) : [];
  const [first = 0, second = 0, third = 0] = numbers;
  if (algorithm.name === 'gcra' && numbers.length === 2)
    return stateAfter(algorithm, { used: first, previous: 0, elapsed: 0 }, tick - second);
  if (algorithm.name === 'sliding_window' && numbers.length === 3) {
    const stored = { used: third, previous: second, elapsed: 0 };
    return stateAfter(algorithm, stored, tick - first * algorithm.periodTicks);
  }
  return undefined;
}
