/** Gauges that several connections or processes report: these show the worst value, all others the sum. */
const SHOWS_MAXIMUM =
  /\.(?:breaker_state|clock_difference_seconds|rules_without_scripts|averageAccessTime|busy)$/;

/** The joint value of several gauges with one name. */
export function joinGauges(name: string, values: readonly number[]): number {
  if (SHOWS_MAXIMUM.test(name)) return Math.max(0, ...values);
  return values.reduce((sum, value) => sum + value, 0);
}
