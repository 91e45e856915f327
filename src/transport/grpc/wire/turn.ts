/** Runs once at the end of the current turn, with all items that were added in it. */
export function createEndOfTurn<T>(run: (items: Iterable<T>) => void) {
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
    /** After the currently running callbacks: for answers, which came all together. */
    soon: (item: T) => {
      items.add(item);
      if (isSoon) return;
      isSoon = true;
      process.nextTick(runAll);
    },
    /** After the I/O of this turn: for output that may wait for this turn's answers. */
    later: (item: T) => {
      items.add(item);
      if (isSoon || isLater) return;
      isLater = true;
      setImmediate(runLater);
    },
  };
}
