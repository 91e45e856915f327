/** Twice 50,000,000 hits of this many units each stay below 2^53, where every integer is exact. */
const MAX_TICKS_OF_PERIOD = 90_071_992;

/** The longest answer in seconds: the maximum of a google.protobuf.Duration. */
const MAX_SECONDS = 315_576_000_000;

/** The clock of a rule: its period is a whole number of its ticks. */
export interface Ticks {
  /** Length of a tick in microseconds, a power of ten from 1 to 1,000,000. */
  readonly tickMicros: number;
  readonly periodTicks: number;
}

/** The finest ticks that keep all products of a period exact, for whole seconds from 1 to 90,000,000. */
export function ticksOf(periodSeconds: number): Ticks {
  const periodMicros = periodSeconds * 1_000_000;
  let tickMicros = 1;
  while (periodMicros / tickMicros > MAX_TICKS_OF_PERIOD) tickMicros *= 10;
  return { tickMicros, periodTicks: periodMicros / tickMicros };
}

/** Clocks may differ by this; a time further in the future was written by a wrong clock. */
export const SPARE_SECONDS = 15;

/**
 * Whether a counter was written so far in the future that its clock was wrong (`elapsed` ticks ago): it then counts as written now.
 * A clock that went back by at most a period is believed.
 */
export function isAstray({ tickMicros, periodTicks }: Ticks, elapsed: number): boolean {
  return elapsed < -(periodTicks + spareTicks(tickMicros));
}

export function spareTicks(tickMicros: number): number {
  return (SPARE_SECONDS * 1_000_000) / tickMicros;
}

/** The tick of a moment in Unix seconds. A fraction of a millisecond is noise of the clock and is rounded away. */
export function tickAt(nowSeconds: number, tickMicros: number): number {
  return Math.floor((Math.round(nowSeconds * 1_000) * 1_000) / tickMicros);
}

/** Whole seconds of a number of ticks, rounded up. */
export function secondsOfTicks(ticks: number, tickMicros: number): number {
  return Math.min(Math.ceil(ticks / (1_000_000 / tickMicros)), MAX_SECONDS);
}

/** Whole milliseconds of a number of ticks, rounded up. */
export function millisOfTicks(ticks: number, tickMicros: number): number {
  return Math.min(Math.ceil((ticks * tickMicros) / 1_000), MAX_SECONDS * 1_000);
}
