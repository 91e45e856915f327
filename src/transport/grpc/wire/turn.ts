/** Runs once at the end of the current turn, with all items that were added in it. */
export interface EndOfTurn<T> {
  /** After the callbacks that are running now: for answers, which came all together. */
  readonly soon: (item: T) => void;
  /** After the I/O of this turn: for what may wait for the answers of this turn. */
  readonly later: (item: T) => void;
}

export function createEndOfTurn<T>(run: (items: Iterable<T>) => void): EndOfTurn<T> {
  // Two sets take turns, so that a turn allocates nothing.
  let items = new Set<T>();
  let spare = new Set<T>();
  let isSoon = false;
  let isLater = false;
  const runAll = () => {
    isSoon = false;
    if (items.size === 0) return;
    const all = items;
    items = spare;
    spare = all;
    run(all);
    all.clear();
  };
  const runLater = () => {
    isLater = false;
    runAll();
  };
  return {
    soon(item) {
      items.add(item);
      if (isSoon) return;
      isSoon = true;
      process.nextTick(runAll);
    },
    later(item) {
      items.add(item);
      if (isSoon || isLater) return;
      isLater = true;
      setImmediate(runLater);
    },
  };
}
