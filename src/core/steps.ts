/**
 * Work that stops at each `yield`, so that whoever runs it can let others go first. A promise that it yields is waited for;
 * a text is a piece of what it makes.
 */
export type Steps<T, Piece = never> = Generator<Piece | Promise<unknown> | undefined, T, void>;

/** What one of `forEach` does takes a microsecond or two. */
const ITEMS_OF_STEP = 256;

/** Runs work that waits for nothing to its end at once. */
export function finish<T>(steps: Generator<undefined, T, void>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Does this with each of many, some hundred in a step. */
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

/** Waits, in steps, for what a promise settles with. */
export function* until<T>(promise: Promise<T>): Steps<T> {
  const settled: T[] = [];
  yield promise.then((value) => settled.push(value));
  return settled[0] as T;
}
