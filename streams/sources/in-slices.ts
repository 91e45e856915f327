import { Observable } from 'rxjs';

/** Runs a generator one step per turn of the event loop, so that I/O gets its turn between; emits what it returns. */
export function inSlices<T>(start: () => Generator<unknown, T>): Observable<T> {
  return new Observable((subscriber) => {
    const work = start();
    const step = () => {
      try {
        const slice = work.next();
        if (slice.done !== true) {
          next = setImmediate(step);
          return;
        }
        subscriber.next(slice.value);
        subscriber.complete();
      } catch (error) {
        subscriber.error(error);
      }
    };
    let next = setImmediate(step);
    return () => {
      clearImmediate(next);
    };
  });
}
