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
} from 'rxjs';
import { exhaustLatest } from '../operators/exhaust-latest';
import { debounceWithMaxWait, type DebounceOptions } from '../operators/debounce-with-max-wait';

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
export function toLoaded<T>(): OperatorFunction<T, Loaded<T>> {
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
