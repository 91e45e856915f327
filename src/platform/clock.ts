/** Unix seconds with fraction: the time of day that decides which window counts. */
export const systemClock = (): number => Date.now() / 1_000;

/** Milliseconds that only ever grow, for durations. */
export const monotonicMs = (): number => performance.now();
