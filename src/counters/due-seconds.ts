/** Due times of one distance to each other, before those of twice the distance begin. */
const DUES_OF_DISTANCE = 8;

/**
 * When to look after what ends at a second: then, or within an eighth of the time until then. So there are some hundred
 * due times, however many ends there are.
 */
export function dueSecondsOf(endSeconds: number, nowSeconds: number): number {
  const distance =
    2 ** Math.floor(Math.log2(Math.max(1, (endSeconds - nowSeconds) / DUES_OF_DISTANCE)));
  return Math.ceil(endSeconds / distance) * distance;
}
