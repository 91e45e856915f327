/** Items sorted, or merged, per step: a fraction of a millisecond. */
const ITEMS_OF_RUN = 128;
const ITEMS_OF_STEP = 512;

export type Compare = (a: number, b: number) => number;

/** Sorts numbers in runs, then merges pairs of them. The given list is consumed. */
export function* sortInSteps(
  numbers: Float64Array,
  compare: Compare,
): Generator<undefined, Float64Array, void> {
  for (let at = 0; at < numbers.length; at += ITEMS_OF_RUN) {
    numbers.subarray(at, at + ITEMS_OF_RUN).sort(compare);
    yield;
  }
  let from: Float64Array = numbers;
  let to: Float64Array = new Float64Array(numbers.length);
  for (let length = ITEMS_OF_RUN; length < numbers.length; length *= 2) {
    yield* mergePairs(from, to, length, compare);
    [from, to] = [to, from];
  }
  return from;
}

/** Merges neighbouring pairs of sorted runs of this length. */
function* mergePairs(
  from: Float64Array,
  to: Float64Array,
  length: number,
  compare: Compare,
): Generator<undefined, void, void> {
  for (let start = 0; start < from.length; start += 2 * length) {
    const middle = Math.min(start + length, from.length);
    const end = Math.min(middle + length, from.length);
    let left = start;
    let right = middle;
    for (let at = start; at < end; at += 1) {
      const [a = 0, b = 0] = [from[left], from[right]];
      const isLeft = right === end || (left < middle && compare(a, b) <= 0);
      to[at] = isLeft ? a : b;
      if (isLeft) left += 1;
      else right += 1;
      if (at % ITEMS_OF_STEP === 0) yield;
    }
  }
}
