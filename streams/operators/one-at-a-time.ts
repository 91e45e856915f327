import {
  BehaviorSubject,
  concatMap,
  defer,
  filter,
  finalize,
  from,
  map,
  switchMap,
  take,
  type ObservableInput,
  type OperatorFunction,
} from 'rxjs';

/** Runs one inner stream at a time: of the values that arrive meanwhile, only the newest is used, once it ends. */
export function exhaustLatest<T, R>(
  project: (value: T) => ObservableInput<R>,
): OperatorFunction<T, R> {
  return (source) =>
    defer(() => {
      const idleSubject = new BehaviorSubject(true);
      const idle$ = idleSubject.pipe(
        filter((idle) => idle),
        take(1),
      );
      const run$ = (value: T) => {
        idleSubject.next(false);
        return from(project(value)).pipe(
          finalize(() => {
            idleSubject.next(true);
          }),
        );
      };
      return source.pipe(
        switchMap((value) => idle$.pipe(map(() => value))),
        concatMap(run$),
      );
    });
}

/** Runs an asynchronous task for each value, one at a time, and emits the results. A failed task fails the stream. */
export function inOrder<T, R>(task: (value: T) => Promise<R>): OperatorFunction<T, R> {
  return concatMap((value) => from(task(value)));
}
