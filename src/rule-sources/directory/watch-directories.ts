import { watch } from 'chokidar';
import { join } from 'node:path';
import { toReason } from '../../platform/errors';
import type { OpenWatch } from '../../../streams';
import type { WatchTarget } from './resolve-path';

/**
 * Watches directories and emits when something in them may have changed, and once when the watch is in place. A failed watch is
 * reported and not retried; the poll beside it continues.
 *
 * Uses chokidar's raw events: its own compare the times of content, so a chmod would be missed, and it does not follow links to
 * files.
 */
export function openDirectories(
  warn: (message: string) => void,
): OpenWatch<readonly WatchTarget[], void> {
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
