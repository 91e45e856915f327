/** 2^63 - 1, the largest count of every store, as the nearest double. */
const LARGEST_COUNT = 2 ** 63;

/** Whether a store's answer can be the count of a counter: a whole number from 0 to 2^63 - 1. */
export function isCount(answer: unknown): answer is number {
  return Number.isInteger(answer) && (answer as number) >= 0 && (answer as number) <= LARGEST_COUNT;
}
