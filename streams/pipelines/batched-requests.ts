import { from, mergeMap, type ObservableInput, type OperatorFunction } from 'rxjs';
import { batchUntil, type BatchOptions } from '../operators/batch-until';

export interface BatchedRequests<Q, R> extends BatchOptions {
  /** Answers one batch; the pipeline emits its result. */
  readonly answer: (batch: readonly Q[]) => ObservableInput<R>;
}

/**
 * The flow of requests: groups arrive, batches form, each is answered independently. Completes once the source has and every batch
 * is answered.
 */
export function batchedRequests<Q, R>({
  answer,
  ...window
}: BatchedRequests<Q, R>): OperatorFunction<readonly Q[], R> {
  return (requests$) =>
    requests$.pipe(
      batchUntil(window),
      mergeMap((batch) => from(answer(batch))),
    );
}
