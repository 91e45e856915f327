import { closeSync, existsSync, openSync, readSync } from 'node:fs';
import { performance } from 'node:perf_hooks';

/** Measures how long single turns of the event loop take in which something of interest happens. */
export interface StallProbe {
  /** Says that this turn is of interest; the others are only the noise of the machine. */
  mark(): void;
  /** Runs `work` and answers the longest marked turn meanwhile, in milliseconds. */
  longestDuring(work: () => Promise<unknown>): Promise<number>;
}

/**
 * Where the system tells (Linux), time spent waiting for a processor that others held does not
 * count.
 */
export function createStallProbe(): StallProbe {
  let isMarked = false;
  return {
    mark: () => {
      isMarked = true;
    },
    longestDuring: async (work) => {
      const queue = openQueueTime();
      let longest = 0;
      let last = performance.now() - queue.readMs();
      let isDone = false;
      const turn = () => {
        if (isDone) return;
        const now = performance.now() - queue.readMs();
        if (isMarked) longest = Math.max(longest, now - last);
        isMarked = false;
        last = now;
        setImmediate(turn);
      };
      setImmediate(turn);
      try {
        await work();
      } finally {
        isDone = true;
        queue.close();
      }
      return longest;
    },
  };
}

/** How long the main thread was ready to run and did not, since its start. */
function openQueueTime() {
  const path = `/proc/self/task/${String(process.pid)}/schedstat`;
  if (!existsSync(path)) return { readMs: () => 0, close: () => undefined };
  const file = openSync(path, 'r');
  const bytes = Buffer.alloc(128);
  return {
    readMs: () => {
      const length = readSync(file, bytes, 0, bytes.length, 0);
      return Number(bytes.toString('latin1', 0, length).split(' ')[1]) / 1e6;
    },
    close: () => {
      closeSync(file);
    },
  };
}
