import {
  catchError,
  defer,
  EMPTY,
  exhaustMap,
  map,
  mergeMap,
  of,
  timer,
  type Observable,
  type ObservableInput,
} from 'rxjs';
import { type Loaded } from '../loaded';

export interface RenewWhenGood<T> {
  /** What is in use at the beginning. */
  readonly first: T;
  readonly everyMs: number;
  /** Reads what is there now; errors when it cannot be read. */
  readonly look: () => ObservableInput<T>;
  readonly isSame: (a: T, b: T) => boolean;
  /** Throws when it cannot be used. */
  readonly check: (value: T) => void;
  readonly onFault: (error: unknown) => void;
}

/**
 * Looks at something that somebody renews, and emits each good value that is not the one in use. A bad
 * one is told of once, when a second look finds it unchanged: until then it may be half written.
 */
export function renewWhenGood<T>(options: RenewWhenGood<T>): Observable<T> {
  const { first, everyMs, look, check, isSame, onFault } = options;
  const look$ = defer(look).pipe(
    map((value): Loaded<T> => ({ ok: true, value })),
    catchError((error: unknown) => of<Loaded<T>>({ ok: false, error: asError(error) })),
  );
  return defer(() => {
    let inUse = first;
    let bad: Loaded<T> | undefined;
    let isTold = false;

    const note = (seen: Loaded<T>, error: unknown) => {
      const isUnchanged = bad !== undefined && isSameLook(bad, seen, isSame);
      if (!isUnchanged) isTold = false;
      else if (!isTold) {
        isTold = true;
        onFault(error);
      }
      bad = seen;
    };

    return timer(everyMs, everyMs).pipe(
      exhaustMap(() => look$),
      mergeMap((seen) => {
        try {
          if (!seen.ok) throw seen.error;
          const isNew = !isSame(seen.value, inUse);
          if (isNew) check(seen.value);
          bad = undefined;
          inUse = seen.value;
          return isNew ? of(inUse) : EMPTY;
        } catch (error) {
          note(seen, error);
          return EMPTY;
        }
      }),
    );
  });
}

function isSameLook<T>(a: Loaded<T>, b: Loaded<T>, isSame: (a: T, b: T) => boolean): boolean {
  if (a.ok && b.ok) return isSame(a.value, b.value);
  return !a.ok && !b.ok && a.error.message === b.error.message;
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
