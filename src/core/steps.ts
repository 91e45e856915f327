/**
 * Work that pauses at each `yield`, so that its runner can let other work proceed. A yielded promise is awaited; a yielded string
 * is a piece of the result.
 */
export type Steps<T, Piece = never> = Generator<Piece | Promise<unknown> | undefined, T, void>;

/** One item of `forEach` takes a microsecond or two. */
const ITEMS_OF_STEP = 256;

/** Runs work without promises to its end at once. */
export function finish<T>(steps: Generator<undefined, T, void>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Calls this for each item, some hundred per step. */
export function* forEach<T>(
  items: Iterable<T>,
  act: (item: T) => void,
): Generator<undefined, void, void> {
  let left = ITEMS_OF_STEP;
  for (const item of items) {
    act(item);
    left -= 1;
    if (left > 0) continue;
    left = ITEMS_OF_STEP;
    yield;
  }
}

/** Awaits a promise as a step. */
export function* until<T>(promise: Promise<T>): Steps<T> {
  const settled: T[] = [];
  yield promise.then((value) => settled.push(value));
  return settled[0] as T;
}
