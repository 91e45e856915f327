import type { Steps } from '../../../core/steps';

/** Serializes work, so that only one memory-intensive task exists at a time. */
export function createTurns(): (run: () => Steps<void>) => Steps<void> {
  let last: Promise<unknown> = Promise.resolve();
  return function* (run) {
    const before = last;
    let end: () => void = () => undefined;
    last = Promise.all([before, new Promise<void>((resolve) => (end = resolve))]);
    try {
      yield before;
      yield* run();
    } finally {
      end();
    }
  };
}
