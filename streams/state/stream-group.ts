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

/** Streams that run together although they come and go: the nodes of a store, the windows that are open. */
export function createStreamGroup() {
  const unfinished = new Set<Observable<unknown>>();
  const addedSubject = new Subject<Observable<unknown>>();
  const runOne$ = (stream$: Observable<unknown>): Observable<never> =>
    stream$.pipe(
      ignoreElements(),
      finalize(() => unfinished.delete(stream$)),
    );
  return {
    // Listens first: a stream that starts may add another.
    /**
     * Runs every stream from the moment that it joins, or from the subscription if that is later, until it completes.
     * Subscribe once. Completes when all have completed after `close`; fails with the first that fails.
     */
    run$: defer(() => merge(addedSubject, from([...unfinished])).pipe(mergeMap(runOne$))),
    add(stream$: Observable<unknown>) {
      unfinished.add(stream$);
      addedSubject.next(stream$);
    },
    /** Takes no more streams. */
    close() {
      addedSubject.complete();
    },
  };
}
