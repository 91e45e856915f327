import { Observable, switchMap } from 'rxjs';

/** Starts to watch `target`; the returned function stops that. Reports its own failures elsewhere. */
export type OpenWatch<Target, Change> = (
  target: Target,
  changed: (change: Change) => void,
) => () => void;

/** The changes of the newest target. A watch is open from subscription, or a new target, until the next target or teardown. */
export function fromWatch<Target, Change>(
  targets$: Observable<Target>,
  open: OpenWatch<Target, Change>,
): Observable<Change> {
  return targets$.pipe(
    switchMap(
      (target) =>
        new Observable<Change>((subscriber) =>
          open(target, (change) => {
            subscriber.next(change);
          }),
        ),
    ),
  );
}
