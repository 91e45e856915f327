import type { Steps } from '../core/steps';

/** Counters that one look for those over their limit passes. */
const MAX_VISITS = 1_000_000;

/** Those that one step of it passes: a fraction of a millisecond. */
const VISITS_OF_STEP = 1_024;

/**
 * What is found of counters, up to a number, among the first that one look passes. They may change between two steps:
 * `counters` must be a walk that goes on all the same, as that over a map does.
 */
export function* findOver<T, Found>(
  counters: Iterable<T>,
  most: number,
  toFound: (counter: T) => Found | undefined,
): Steps<readonly Found[]> {
  const found: Found[] = [];
  let visits = 0;
  for (const counter of counters) {
    if (found.length >= most || visits >= MAX_VISITS) break;
    visits += 1;
    const one = toFound(counter);
    if (one !== undefined) found.push(one);
    if (visits % VISITS_OF_STEP === 0) yield;
  }
  return found;
}
