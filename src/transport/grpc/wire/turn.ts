/** Does something once at the end of the current turn, however often it is asked for. */
export interface EndOfTurn<T> {
  /** Behind the callbacks that are running now: for answers, which came all together. */
  readonly soon: (item: T) => void;
  /** Behind the I/O of this turn: for what may wait for the answers of this turn. */
  readonly later: (item: T) => void;
}

export function createEndOfTurn<T>(run: (items: readonly T[]) => void): EndOfTurn<T> {
  let items = new Set<T>();
  let isSoon = false;
  let isLater = false;
  const runAll = () => {
    isSoon = false;
    if (items.size === 0) return;
    const all = [...items];
    items = new Set();
    run(all);
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
