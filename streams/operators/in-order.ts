import { concatMap, from, type OperatorFunction } from 'rxjs';

/** Runs an asynchronous task for each value, one at a time, and emits the results. A failed task fails the stream. */
export function inOrder<T, R>(task: (value: T) => Promise<R>): OperatorFunction<T, R> {
  return concatMap((value) => from(task(value)));
}
