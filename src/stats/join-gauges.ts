/** What several connections or processes show as gauges, one value of each: these show the worst, all others their sum. */
const SHOWS_MAXIMUM =
  /\.(?:breaker_state|clock_difference_seconds|rules_without_scripts|averageAccessTime|busy)$/;

/** What several gauges of one name show together. */
export function joinGauges(name: string, values: readonly number[]): number {
  if (SHOWS_MAXIMUM.test(name)) return Math.max(0, ...values);
  return values.reduce((sum, value) => sum + value, 0);
}
