import { createReplyDeadline, type ReplyDeadlineDeps } from '../connection/reply-deadline';

/** One batch that waits for answers of a connection. */
export interface BatchInFlight {
  readonly weight: number;
  readonly startedMs: number;
}

export interface InFlightDeps extends Omit<ReplyDeadlineDeps, 'oldestSinceMs'> {
  /** A batch has ended; so many are left. */
  readonly onEnd: (left: number) => void;
}

/** The batches that wait for answers of one connection. */
export function createBatchesInFlight(deps: InFlightDeps, timeoutMs: number) {
  const { monotonicMs, onTimeout, onEnd } = deps;
  const open = new Set<BatchInFlight>();
  let weight = 0;

  const oldestSinceMs = (): number | undefined => {
    for (const { startedMs } of open) return startedMs;
    return undefined;
  };
  const deadline = createReplyDeadline({ monotonicMs, oldestSinceMs, onTimeout }, timeoutMs);

  return {
    get size() {
      return open.size;
    },
    /** How many increments wait. */
    get weight() {
      return weight;
    },
    /** When the oldest of them began; undefined: none waits. */
    get oldestSinceMs() {
      return oldestSinceMs();
    },
    begin(ofWeight: number) {
      const batch = { weight: ofWeight, startedMs: monotonicMs() };
      open.add(batch);
      weight += ofWeight;
      deadline.watch();
      return batch;
    },
    end(batch: BatchInFlight) {
      open.delete(batch);
      weight -= batch.weight;
      onEnd(open.size);
    },
    /** Nothing times out any more. */
    stop() {
      deadline.stop();
    },
  };
}
