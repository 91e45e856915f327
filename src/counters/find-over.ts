import type { Steps } from '../core/steps';

/** Counters visited by one search for those over their limit. */
const MAX_VISITS = 1_000_000;

/** Counters visited per step: a fraction of a millisecond. */
const VISITS_OF_STEP = 1_024;

/**
 * The first `most` results among the counters that one search visits. Counters may change between two steps: `counters` must be an
 * iteration that tolerates that, as a map's does.
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
