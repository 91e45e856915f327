import {
  catchError,
  defer,
  map,
  of,
  startWith,
  throwError,
  timeout,
  type Observable,
  type ObservableInput,
  type OperatorFunction,
  EMPTY,
  exhaustMap,
  mergeMap,
  timer,
  connect,
  debounceTime,
  merge,
  takeLast,
  takeUntil,
  type MonoTypeOperatorFunction,
} from 'rxjs';
import { exhaustLatest } from '../operators/one-at-a-time';

/** The outcome of an attempt to load something. */
export type Loaded<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: Error };

export interface ReloadOptions<Change, T> {
  /** Emits for anything that may mean new content. Its error ends the reloads, so it must retry by itself. */
  readonly changes$: Observable<Change>;
  readonly debounce: DebounceOptions;
  /** Reads the current content; emits nothing when it is the same as in the previous load. */
  readonly load: () => ObservableInput<T>;
  /** A load that is silent for longer is cancelled and counts as failed. */
  readonly loadTimeoutMs: number;
}

/**
 * Loads on subscribe and again after each burst of changes. Never runs two loads at once; a change during a load triggers one more
 * after it. A failed load is a value.
 */
export function reloadOnChange<Change, T>(
  options: ReloadOptions<Change, T>,
): Observable<Loaded<T>> {
  const { changes$, load, loadTimeoutMs } = options;
  const late$ = throwError(
    () => new Error(`the load took longer than ${loadTimeoutMs.toString()} ms`),
  );
  const loaded$ = defer(load).pipe(
    timeout({ first: loadTimeoutMs, with: () => late$ }),
    toLoaded(),
  );
  return changes$.pipe(
    debounceWithMaxWait(options.debounce),
    startWith(undefined),
    exhaustLatest(() => loaded$),
  );
}

/** Turns the result or the error of a load into a value. */
function toLoaded<T>(): OperatorFunction<T, Loaded<T>> {
  return (load$) =>
    load$.pipe(
      map((value): Loaded<T> => ({ ok: true, value })),
      catchError((error: unknown) =>
        of<Loaded<T>>({
          ok: false,
          error: error instanceof Error ? error : new Error(String(error)),
        }),
      ),
    );
}

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

export interface DebounceOptions {
  /** A burst ends after this many milliseconds without a value. */
  readonly quietMs: number;
  /** A burst that does not end is emitted this many milliseconds after its first value. */
  readonly maxMs: number;
}

/** Emits the newest value of each burst, when the burst ends or is `maxMs` old. */
export function debounceWithMaxWait<T>({
  quietMs,
  maxMs,
}: DebounceOptions): MonoTypeOperatorFunction<T> {
  return connect((shared$) =>
    shared$.pipe(
      exhaustMap((first) => {
        const burst$ = shared$.pipe(startWith(first));
        const over$ = merge(burst$.pipe(debounceTime(quietMs)), timer(maxMs));
        return burst$.pipe(takeUntil(over$), takeLast(1));
      }),
    ),
  );
}
