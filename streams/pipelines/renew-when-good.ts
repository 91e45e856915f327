import {
  defer,
  EMPTY,
  exhaustMap,
  mergeMap,
  of,
  timer,
  type Observable,
  type ObservableInput,
} from 'rxjs';
import { toLoaded, type Loaded } from './reload-on-change';

export interface RenewWhenGood<T> {
  /** The value in use at the start. */
  readonly first: T;
  readonly everyMs: number;
  /** Reads the current value; errors when it cannot be read. */
  readonly look: () => ObservableInput<T>;
  readonly isSame: (a: T, b: T) => boolean;
  /** Throws when the value cannot be used. */
  readonly check: (value: T) => void;
  readonly onFault: (error: unknown) => void;
}

/**
 * Polls a value that is renewed from outside and emits each good value that differs from the current one. A bad value is reported
 * once, when a second read finds it unchanged: until then it may be half written.
 */
export function renewWhenGood<T>(options: RenewWhenGood<T>): Observable<T> {
  const { first, everyMs, look, check, isSame, onFault } = options;
  const look$ = defer(look).pipe(toLoaded());
  return defer(() => {
    let inUse = first;
    let bad: Loaded<T> | undefined;
    let isReported = false;

    const note = (seen: Loaded<T>, error: unknown) => {
      const isUnchanged = bad !== undefined && isSameResult(bad, seen, isSame);
      if (!isUnchanged) isReported = false;
      else if (!isReported) {
        isReported = true;
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

function isSameResult<T>(a: Loaded<T>, b: Loaded<T>, isSame: (a: T, b: T) => boolean): boolean {
  if (a.ok && b.ok) return isSame(a.value, b.value);
  return !a.ok && !b.ok && a.error.message === b.error.message;
}
