import type { Steps } from '../../src/core/steps';

/** Runs work to its end, and waits for what it waits for; hands its pieces on. */
export async function runSteps<T>(
  steps: Steps<T, string>,
  onPiece: (piece: string) => void = () => undefined,
): Promise<T> {
  let step = steps.next();
  while (step.done !== true) {
    const { value } = step;
    if (typeof value === 'string') onPiece(value);
    try {
      await value;
      step = steps.next();
    } catch (error) {
      step = steps.throw(error);
    }
  }
  return step.value;
}

/** Work that makes these pieces. */
export function* piecesOf(...texts: readonly string[]): Steps<void, string> {
  yield Promise.resolve();
  for (const text of texts) yield text;
}
