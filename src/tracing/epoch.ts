/** A step of the wall clock by more than this is followed; less is its usual slewing. */
const STEP_MS = 50;

/**
 * Unix milliseconds with a fraction that never goes back by itself: the wall clock alone counts whole milliseconds,
 * and a span lasts some hundredths of one.
 */
export function createEpoch(wallMs: () => number, monotonicMs: () => number): () => number {
  let offsetMs = wallMs() - monotonicMs();
  return () => {
    const now = monotonicMs();
    const wall = wallMs();
    if (Math.abs(wall - now - offsetMs) > STEP_MS) offsetMs = wall - now;
    return now + offsetMs;
  };
}
