import { from, mergeMap, type ObservableInput, type OperatorFunction } from 'rxjs';
import { batchUntil, type BatchOptions } from '../operators/batch-until';

export interface BatchedQuestions<Q, R> extends BatchOptions {
  /** Answers one batch; what it resolves to is what the pipeline emits. */
  readonly answer: (batch: readonly Q[]) => ObservableInput<R>;
}

/**
 * The movement of questions: groups arrive, batches form, each is answered independently of the
 * others. Completes once the source has and every batch is answered.
 */
export function batchedQuestions<Q, R>({
  answer,
  ...window
}: BatchedQuestions<Q, R>): OperatorFunction<readonly Q[], R> {
  return (questions$) =>
    questions$.pipe(
      batchUntil(window),
      mergeMap((batch) => from(answer(batch))),
    );
}
