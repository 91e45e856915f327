import {
  from,
  mergeMap,
  type ObservableInput,
  type OperatorFunction,
  Observable,
  Subscription,
  take,
} from 'rxjs';

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

export interface BatchOptions {
  /** Opened by the first values of a batch; its first emission or its completion closes that batch. */
  readonly until: () => ObservableInput<unknown>;
  /** Closes a batch early once it holds at least this many values. */
  readonly maxSize?: number;
}

/**
 * Joins groups of values that arrive close together into one. A group that is alone in its window is
 * emitted as it came, uncopied.
 *
 * Idle time costs nothing: no timer runs while the batch is empty. Completion
 * flushes what is left, an error drops it.
 */
export function batchUntil<T>({
  until,
  maxSize = Infinity,
}: BatchOptions): OperatorFunction<readonly T[], readonly T[]> {
  return (source) =>
    new Observable((subscriber) => {
      let alone: readonly T[] | undefined;
      let joined: T[] | undefined;
      let closing = Subscription.EMPTY;

      const flush = () => {
        closing.unsubscribe();
        const batch = joined ?? alone;
        alone = undefined;
        joined = undefined;
        if (batch !== undefined) subscriber.next(batch);
      };

      const open = (group: readonly T[]) => {
        alone = group;
        if (group.length >= maxSize) {
          flush();
          return;
        }
        closing = from(until())
          .pipe(take(1))
          .subscribe({
            complete: flush,
            error: (error: unknown) => {
              subscriber.error(error);
            },
          });
      };

      const join = (group: readonly T[], batch: readonly T[]) => {
        joined ??= batch.slice();
        for (const value of group) joined.push(value);
        if (joined.length >= maxSize) flush();
      };

      const feeding = source.subscribe({
        next(group) {
          const batch = joined ?? alone;
          if (batch === undefined) open(group);
          else join(group, batch);
        },
        error: (error: unknown) => {
          subscriber.error(error);
        },
        complete() {
          flush();
          subscriber.complete();
        },
      });

      return () => {
        closing.unsubscribe();
        feeding.unsubscribe();
      };
    });
}
