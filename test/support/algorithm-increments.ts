import { toAlgorithm, type Algorithm } from '../../src/core/algorithms/algorithm';
import { type CounterState } from '../../src/core/algorithms/counter-state';
import type { Increment } from '../../src/core/ports';
import { increment } from './increments';

/** Long enough that nothing drains while a test runs. */
const PERIOD_SECONDS = 80_000_000;

/** A rule that drains nothing while a test runs. */
export function slowRule(name: Algorithm['name'], limit = 10, chargeDenied = false): Algorithm {
  const definition = { name, limit, burst: undefined, chargeDenied, periodSeconds: PERIOD_SECONDS };
  return toAlgorithm(definition) as Algorithm;
}

/** The key as the planner writes it for this algorithm. */
export function keyFor({ keyEnd = '' }: Algorithm, key: string): string {
  return key + keyEnd;
}

export function ask(
  algorithm: Algorithm,
  key: string,
  hits: number | bigint = 1,
  times = 1,
): Increment {
  return increment(keyFor(algorithm, key), hits, { algorithm, times, limit: algorithm.limit });
}

/** Whole hits in use: what has drained since the test began is less than one. */
export function usedHits(
  state: CounterState | undefined,
  { name, periodTicks }: Algorithm,
): number {
  if (state === undefined) return NaN;
  const hits = name === 'gcra' ? Math.ceil(state.used / periodTicks - 1e-3) : state.used;
  return Math.max(0, hits);
}
