/** A step of the wall clock by more than this is followed; less is its usual slewing. */
const STEP_MS = 50;

/**
 * From monotonic milliseconds to Unix milliseconds with a fraction: the wall clock alone counts whole milliseconds, and
 * a span lasts some hundredths of one. `follow` looks whether the wall clock was set.
 */
export interface Epoch {
  readonly toUnixMs: (atMs: number) => number;
  readonly follow: () => void;
}

export function createEpoch(wallMs: () => number, monotonicMs: () => number): Epoch {
  let offsetMs = wallMs() - monotonicMs();
  return {
    toUnixMs: (atMs) => atMs + offsetMs,
    follow() {
      const offset = wallMs() - monotonicMs();
      if (Math.abs(offset - offsetMs) > STEP_MS) offsetMs = offset;
    },
  };
}
