import { join } from 'node:path';
import type { DirectoryEntry } from './list-entries';

/** The path of a file as the reference names it: `config/a.yaml` is `config.a.yaml`. */
export function dottedPath(path: string): string {
  return path.replaceAll('/', '.');
}

/** Selects what a walk through the parent of `appDirectory` visits: everything but that directory itself. */
export function besideOf(appDirectory: string) {
  const prefix = `${appDirectory}.`;
  return {
    /** Whether a path is that of a rule file, or of a directory that may contain one. */
    mayHold: (path: string): boolean => {
      const dotted = dottedPath(path);
      if (path === appDirectory) return false;
      return dotted.startsWith(prefix) || prefix.startsWith(`${dotted}.`);
    },
    /** Whether a file counts. */
    isTaken: (path: string): boolean => dottedPath(path).startsWith(prefix),
  };
}

/**
 * Among entries with the same dotted path the reference reads the last, in the byte order of names. Returns the others, each with the
 * name of the one that is read. Names are relative to `appDirectory`, with `../` for entries beside it.
 */
export function findOverwritten(
  entries: readonly DirectoryEntry[],
  appDirectory: string,
): ReadonlyMap<DirectoryEntry, string> {
  const groups = new Map<string, DirectoryEntry[]>();
  for (const entry of entries) {
    const dotted = dottedPath(join(appDirectory, entry.name));
    const group = groups.get(dotted);
    if (group === undefined) groups.set(dotted, [entry]);
    else group.push(entry);
  }
  const overwritten = new Map<DirectoryEntry, string>();
  for (const group of groups.values()) {
    if (group.length === 1) continue;
    const placed = group.map((entry) => ({ entry, steps: stepsOf(appDirectory, entry) }));
    const last = placed.reduce((a, b) => (isBefore(a.steps, b.steps) ? b : a)).entry;
    for (const entry of group) if (entry !== last) overwritten.set(entry, last.name);
  }
  return overwritten;
}

function stepsOf(appDirectory: string, { name }: DirectoryEntry): readonly string[] {
  return join(appDirectory, name).split('/');
}

function isBefore(a: readonly string[], b: readonly string[]): boolean {
  const differs = a.findIndex((step, i) => step !== b[i]);
  return Buffer.compare(Buffer.from(a[differs] ?? ''), Buffer.from(b[differs] ?? '')) < 0;
}
