/** Unix seconds with fraction: the time of day, which determines windows. */
export const systemClock = (): number => Date.now() / 1_000;

/** Monotonic milliseconds, for durations. */
export const monotonicMs = (): number => performance.now();
