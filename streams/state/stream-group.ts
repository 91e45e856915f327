import {
  defer,
  finalize,
  from,
  ignoreElements,
  merge,
  mergeMap,
  Subject,
  type Observable,
} from 'rxjs';

/** A changing set of streams that run together: the nodes of a store, the windows that are open. */
export function createStreamGroup() {
  const unfinished = new Set<Observable<unknown>>();
  const addedSubject = new Subject<Observable<unknown>>();
  const runOne$ = (stream$: Observable<unknown>): Observable<never> =>
    stream$.pipe(
      ignoreElements(),
      finalize(() => unfinished.delete(stream$)),
    );
  return {
    // Subscribes to new streams first: a stream that starts may add another.
    /**
     * Runs every stream from the moment it is added, or from the subscription if that is later, until it completes. Subscribe once.
     * Completes when all have completed after `close`; fails with the first that fails.
     */
    run$: defer(() => merge(addedSubject, from([...unfinished])).pipe(mergeMap(runOne$))),
    add(stream$: Observable<unknown>) {
      unfinished.add(stream$);
      addedSubject.next(stream$);
    },
    /** Accepts no more streams. */
    close() {
      addedSubject.complete();
    },
  };
}
