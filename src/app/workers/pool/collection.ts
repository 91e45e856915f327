import type { Slot } from './slot';

const COLLECT_WITHIN_MS = 200;

/** Collects the counts of all workers, so that a scrape or a flush shows them. */
export function createCollection(slots: readonly Slot[]) {
  let id = 0;
  let missing = new Set<number>();
  let running: Promise<void> | undefined;
  let settle: () => void = () => undefined;

  const answered = (worker: number): void => {
    if (missing.delete(worker) && missing.size === 0) settle();
  };
  const collect = (): Promise<void> => {
    id += 1;
    missing = new Set();
    for (const slot of slots) {
      if (slot.state !== 'up') continue;
      missing.add(slot.worker);
      slot.send({ kind: 'collect', id });
    }
    if (missing.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        settle();
      }, COLLECT_WITHIN_MS);
      settle = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  };
  return {
    /** Settles when all have answered, or COLLECT_WITHIN_MS later: then their last reports must suffice. */
    collect: () => (running ??= collect().finally(() => (running = undefined))),
    collected(worker: number, answeredId: number) {
      if (answeredId === id) answered(worker);
    },
    ended: answered,
  };
}
