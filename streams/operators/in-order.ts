import { concatMap, from, type OperatorFunction } from 'rxjs';

/** Does an asynchronous task for each value, one after another, and emits what each comes to. Its failure is the stream's. */
export function inOrder<T, R>(task: (value: T) => Promise<R>): OperatorFunction<T, R> {
  return concatMap((value) => from(task(value)));
}
