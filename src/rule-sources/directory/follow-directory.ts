import { defer, EMPTY, map, merge, type Observable, timer } from 'rxjs';
import {
  createSnapshot,
  fromTask,
  fromWatch,
  type Loaded,
  type DebounceOptions,
  reloadOnChange,
  type OpenWatch,
} from '../../../streams';
import type { Clock } from '../../core/ports';
import { WHOLE } from '../../fields/problem';
import type { LoadResult, RuleFiles } from '../load-result';
import {
  type WatchTarget,
  directoryOf,
  type DirectoryOptions,
  surveyDirectory,
  type Survey,
} from './survey';
import { setTimeout as delay } from 'node:timers/promises';
import { mustRetry, readRuleFiles } from './read-rule-files';
import { watch } from 'chokidar';
import { join } from 'node:path';
import { toReason } from '../../platform/errors';

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
  /** Emits when what is there has to be loaded again, changed or not; default: never. */
  readonly again$?: Observable<unknown>;
}

/** Loads on subscribe and after every change: of a file, of a link on the way, of the directory's existence. */
export function followDirectory<R>(
  options: FollowOptions,
  { load, clock, warn, again$ = EMPTY }: FollowDirectoryDeps<R>,
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
      again$.pipe(
        map(() => {
          seen = undefined;
        }),
      ),
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

/** A set of files that is still being written after this many reads is used as it is; its next change reloads. */
const MAX_READS = 5;
/** File systems stamp changes with a clock that ticks every few milliseconds: two changes in one tick look like one. */
const TICK_MS = 20;

/**
 * Reads all rule files so that they belong together: again when one of them, or the target of a link, changed meanwhile.
 * `isDoubtful`: the files may since differ although a survey looks the same. Undefined when the survey has the fingerprint `seen`.
 */
export async function readSettled(
  options: DirectoryOptions & { readonly maxBytes: number },
  seen: string | undefined,
  clock: Clock,
  signal: AbortSignal,
) {
  let survey = await surveyDirectory(options);
  if (survey.fingerprint === seen) return undefined;
  for (let reads = 1; ; reads += 1) {
    const isYoung = isWithinTick(survey, clock());
    if (isYoung) {
      await delay(TICK_MS, undefined, { signal });
      survey = await surveyDirectory(options);
    }
    const isDoubtful = isYoung && isWithinTick(survey, clock());
    const found = await readRuleFiles(survey, options.maxBytes);
    signal.throwIfAborted();
    const after = await surveyDirectory(options);
    if (after.fingerprint === survey.fingerprint && !isDoubtful) {
      return { survey, found, isDoubtful: mustRetry(found) };
    }
    if (reads === MAX_READS) return { survey, found, isDoubtful: true };
    survey = after;
  }
}

function isWithinTick({ changedAtSeconds }: Survey, nowSeconds: number): boolean {
  return Math.abs(nowSeconds - changedAtSeconds) * 1_000 < TICK_MS;
}

/**
 * Watches directories and emits when something in them may have changed, and once when the watch is in place. A failed watch is
 * reported and not retried; the poll beside it continues.
 *
 * Uses chokidar's raw events: its own compare the times of content, so a chmod would be missed, and it does not follow links to
 * files.
 */
function openDirectories(warn: (message: string) => void): OpenWatch<readonly WatchTarget[], void> {
  return (targets, changed) => {
    if (targets.length === 0) return () => undefined;
    const namesOf = new Map(targets.map(({ directory, names }) => [directory, names]));
    const watcher = watch([...namesOf.keys()], {
      depth: 0,
      ignoreInitial: true,
      followSymlinks: false,
      // Only the directories themselves: their events name their files too, at one watch instead of thousands.
      ignored: (path) => !namesOf.has(path),
    });
    watcher.on('ready', changed);
    watcher.on('raw', (_event, name, details) => {
      const at = watchedPathOf(details);
      const names = at === undefined ? undefined : namesOf.get(at);
      // A missing name may be any.
      if (names === undefined || !name || names.has(name)) changed();
    });
    watcher.on('error', (error) => {
      warn(
        `a directory of rule files cannot be watched: ${toReason(error)}; changes are found by polling`,
      );
    });
    return () => {
      void watcher.close();
    };
  };
}

function watchedPathOf(details: unknown): string | undefined {
  if (typeof details !== 'object' || details === null || !('watchedPath' in details))
    return undefined;
  return typeof details.watchedPath === 'string' ? join(details.watchedPath) : undefined;
}
