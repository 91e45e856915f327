import { readFileSync } from 'node:fs';

/** A process of a test, as `spawn` and the servers of the tests name it. */
export interface Pid {
  readonly pid?: number | undefined;
}

/**
 * Starts a clock that answers the milliseconds since then, less those in which the main thread of this process or of one
 * of these was ready to run while others had the cores: a test measures the product, not the scheduler. Where the system
 * does not tell (Linux does), all of it counts.
 */
export function startStopwatch(...processes: readonly Pid[]): () => number {
  const queues = [{ pid: process.pid }, ...processes].map(followQueue);
  const readMs = () => performance.now() - queues.reduce((sum, queuedMs) => sum + queuedMs(), 0);
  const startedAtMs = readMs();
  return () => readMs() - startedAtMs;
}

/** How long the main thread of a process waited for a core, since its start; what was last known once it has ended. */
function followQueue({ pid = 0 }: Pid): () => number {
  let queuedMs = 0;
  return () => (queuedMs = readQueuedMs(pid) ?? queuedMs);
}

/** The same at this moment; undefined where nobody tells. */
export function readQueuedMs(pid: number): number | undefined {
  try {
    const text = readFileSync(`/proc/${String(pid)}/task/${String(pid)}/schedstat`, 'utf8');
    return Number(text.split(' ')[1]) / 1e6;
  } catch {
    return undefined;
  }
}
