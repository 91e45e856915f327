/** Due times per distance, before those of twice the distance begin. */
const DUES_OF_DISTANCE = 8;

/**
 * The due time for something that ends at a second: that second, or up to an eighth of the remaining time later. Thus there are
 * some hundred due times for any number of ends.
 */
export function dueSecondsOf(endSeconds: number, nowSeconds: number): number {
  const distance =
    2 ** Math.floor(Math.log2(Math.max(1, (endSeconds - nowSeconds) / DUES_OF_DISTANCE)));
  return Math.ceil(endSeconds / distance) * distance;
}
