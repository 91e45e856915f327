import { startStopwatch } from './core-time';

/** Measures how long single turns of the event loop take in which something of interest happens. */
export interface StallProbe {
  /** Says that this turn is of interest; the others are only the noise of the machine. */
  mark(): void;
  /** Marks every turn until the work is done. */
  markDuring<T>(work: Promise<T>): Promise<T>;
  /** Runs `work` and answers the longest marked turn meanwhile, in milliseconds. */
  longestDuring(work: () => Promise<unknown>): Promise<number>;
}

/** Where the system tells (Linux), time in which others held the processor does not count. */
export function createStallProbe(): StallProbe {
  let isMarked = false;
  const mark = () => {
    isMarked = true;
  };
  return {
    mark,
    markDuring: (work) => {
      let marking = setImmediate(function again() {
        mark();
        marking = setImmediate(again);
      });
      mark();
      return work.finally(() => {
        clearImmediate(marking);
      });
    },
    longestDuring: async (work) => {
      let longest = 0;
      let elapsedMs = startStopwatch();
      let isDone = false;
      const turn = () => {
        if (isDone) return;
        if (isMarked) longest = Math.max(longest, elapsedMs());
        isMarked = false;
        elapsedMs = startStopwatch();
        setImmediate(turn);
      };
      setImmediate(turn);
      try {
        await work();
      } finally {
        isDone = true;
      }
      return longest;
    },
  };
}
