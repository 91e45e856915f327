import { closeSync, existsSync, openSync, readSync } from 'node:fs';

/** How long the main thread was ready to run while others held the processors, since its start; 0 where nobody tells. */
export interface RunQueue {
  readMs(): number;
  close(): void;
}

/** Linux tells it; elsewhere it is always 0. */
export function openRunQueue(): RunQueue {
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

/** Begins to measure; what it returns answers the milliseconds since, without those of waiting for a processor. */
export function startStopwatch(): () => number {
  const queue = openRunQueue();
  const startMs = performance.now() - queue.readMs();
  return () => {
    const elapsedMs = performance.now() - queue.readMs() - startMs;
    queue.close();
    return elapsedMs;
  };
}
