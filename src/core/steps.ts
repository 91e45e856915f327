/**
 * Work that stops at each `yield`, so that whoever runs it can let others go first. A promise that it yields is waited for;
 * a text is a piece of what it makes.
 */
export type Steps<T, Piece = never> = Generator<Piece | Promise<unknown> | undefined, T, void>;

/** Runs work that waits for nothing to its end at once. */
export function finish<T>(steps: Generator<undefined, T, void>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Waits, in steps, for what a promise settles with. */
export function* until<T>(promise: Promise<T>): Steps<T> {
  const settled: T[] = [];
  yield promise.then((value) => settled.push(value));
  return settled[0] as T;
}
