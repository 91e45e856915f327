import { limiterOf, type StateLimiter } from './limiters';
import { type AlgorithmName } from '../../src/core/kinds/kinds';
import { type CounterState } from '../../src/core/kinds/kind';
import type { Increment } from '../../src/core/ports';
import { increment } from './increments';

/** Long enough that nothing drains while a test runs. */
const PERIOD_SECONDS = 80_000_000;

/** A rule that drains nothing while a test runs. */
export function slowRule(name: AlgorithmName, limit = 10, chargeDenied = false): StateLimiter {
  const definition = { name, limit, burst: undefined, chargeDenied, periodSeconds: PERIOD_SECONDS };
  return limiterOf(definition);
}

/** The key as the planner writes it for this algorithm. */
export function keyFor({ keyEnd = '' }: StateLimiter, key: string): string {
  return key + keyEnd;
}

export function ask(
  algorithm: StateLimiter,
  key: string,
  hits: number | bigint = 1,
  times = 1,
): Increment {
  return increment(keyFor(algorithm, key), hits, {
    limiter: algorithm,
    times,
    limit: algorithm.limit,
  });
}

/** Whole hits in use: what has drained since the test began is less than one. */
export function usedHits(
  state: CounterState | undefined,
  { kind, periodTicks }: StateLimiter,
): number {
  if (state === undefined) return NaN;
  const hits = kind.words.name === 'gcra' ? Math.ceil(state.used / periodTicks - 1e-3) : state.used;
  return Math.max(0, hits);
}
