import { createReplyDeadline, type ReplyDeadlineDeps } from '../connection/kept-connection';

/** One batch that waits for answers of a connection. */
export interface BatchInFlight {
  readonly weight: number;
  readonly startedMs: number;
}

export interface InFlightDeps extends Omit<ReplyDeadlineDeps, 'oldestSinceMs'> {
  /** A batch has ended; `left`: how many remain. */
  readonly onEnd: (left: number) => void;
}

/** The batches in flight on one connection. */
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
    /** The number of increments in flight. */
    get weight() {
      return weight;
    },
    /** When the oldest of them was sent; undefined: none is in flight. */
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
    /** No time-outs follow. */
    stop() {
      deadline.stop();
    },
  };
}
