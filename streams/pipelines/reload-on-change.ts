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
} from 'rxjs';
import { exhaustLatest } from '../operators/exhaust-latest';
import { type Loaded } from '../loaded';
import { settle, type SettleOptions } from '../operators/settle';

export interface ReloadOptions<Change, T> {
  /** Anything that may mean new content; an error of it ends the reloads, so it retries by itself. */
  readonly changes$: Observable<Change>;
  readonly settle: SettleOptions;
  /** Reads the content as it is now; emits nothing when it is what the load before saw. */
  readonly load: () => ObservableInput<T>;
  /** A load that is silent for longer is cancelled and counts as failed. */
  readonly loadTimeoutMs: number;
}

/**
 * Loads on subscribe and again after each settled burst of changes. Never two loads at once; a
 * change during a load means one more after it. A failed load is a value.
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
    map((value): Loaded<T> => ({ ok: true, value })),
    catchError((error: unknown) => of<Loaded<T>>({ ok: false, error: asError(error) })),
  );
  return changes$.pipe(
    settle(options.settle),
    startWith(undefined),
    exhaustLatest(() => loaded$),
  );
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
