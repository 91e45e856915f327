import { defer, map, merge, type Observable, timer } from 'rxjs';
import {
  createSnapshot,
  fromTask,
  fromWatch,
  type Loaded,
  type DebounceOptions,
  reloadOnChange,
} from '../../../streams';
import type { Clock } from '../../core/ports';
import { WHOLE } from '../../fields/problem';
import type { LoadResult, RuleFiles } from '../load-result';
import { readSettled } from './read-settled';
import type { WatchTarget } from './resolve-path';
import { directoryOf, type DirectoryOptions } from './survey';
import { openDirectories } from './watch-directories';

export interface FollowOptions extends DirectoryOptions {
  /** Size limit for all rule files together. */
  readonly maxBytes: number;
  /** Interval for checking the directory in case the system reported no change. */
  readonly pollMs: number;
  /** How long nothing must change before files are read, and how long that can delay a reload. */
  readonly settle: DebounceOptions;
  readonly loadTimeoutMs: number;
}

export interface FollowDirectoryDeps<R> {
  readonly load: (found: RuleFiles, signal: AbortSignal) => Promise<LoadResult<R>>;
  readonly clock: Clock;
  /** Called when something cannot be watched. */
  readonly warn: (message: string) => void;
}

/** Loads on subscribe and after every change: of a file, of a link on the way, of the directory's existence. */
export function followDirectory<R>(
  options: FollowOptions,
  { load, clock, warn }: FollowDirectoryDeps<R>,
): Observable<LoadResult<R>> {
  const { pollMs, settle, loadTimeoutMs } = options;
  return defer(() => {
    const targets = createSnapshot<readonly WatchTarget[]>([]);
    let seen: string | undefined;
    let startedAt = clock();

    const loadChanged = async (signal: AbortSignal): Promise<LoadResult<R> | undefined> => {
      startedAt = clock();
      const read = await readSettled(options, seen, clock, signal);
      if (read === undefined) return undefined;
      const { survey, found, isDoubtful } = read;
      seen = isDoubtful ? undefined : survey.fingerprint;
      // Set again after every change, as a watch ends silently when its directory is replaced.
      targets.set(survey.targets);
      return await load(found, signal);
    };

    const changes$ = merge(
      fromWatch(targets.changes$, openDirectories(warn)),
      timer(pollMs, pollMs).pipe(map(() => undefined)),
    );
    const load$ = fromTask(loadChanged);
    return reloadOnChange({ changes$, debounce: settle, load: () => load$, loadTimeoutMs }).pipe(
      map((loaded) => toResult(loaded, directoryOf(options), (clock() - startedAt) * 1_000)),
    );
  });
}

function toResult<R>(
  loaded: Loaded<LoadResult<R>>,
  directory: string,
  durationMs: number,
): LoadResult<R> {
  if (loaded.ok) return loaded.value;
  const { message } = loaded.error;
  return {
    ok: false,
    problems: [{ severity: 'error', class: 'load-failed', file: directory, at: WHOLE, message }],
    durationMs,
  };
}
