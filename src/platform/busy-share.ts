import { performance, type EventLoopUtilization } from 'node:perf_hooks';

/** The gauge of a worker's share. */
export const BUSY = 'ratelimit.workers.busy';

/** Several readers come within one second; a share over a shorter time than this would measure the reading itself. */
const LEAST_MS = 500;

type Utilization = Pick<EventLoopUtilization, 'idle' | 'active'>;

/** The share of time, 0 to 1, in which the event loop was not idle, over the last half second or more. */
export function createBusyShare(
  read: () => Utilization = () => performance.eventLoopUtilization(),
): () => number {
  let last = read();
  let share = 0;
  return () => {
    const now = read();
    const active = now.active - last.active;
    const wholeMs = active + now.idle - last.idle;
    if (wholeMs < LEAST_MS) return share;
    last = now;
    share = Math.round((active / wholeMs) * 1_000) / 1_000;
    return share;
  };
}
