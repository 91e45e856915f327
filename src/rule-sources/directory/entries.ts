import type { BigIntStats } from 'node:fs';
import { lstat, readdir, stat, realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errorCode } from '../../platform/errors';

export interface DirectoryEntry {
  /** As a string; invalid UTF-8 is replaced by U+FFFD. */
  readonly name: string;
  /** The whole path in the bytes that the system uses. */
  readonly path: Buffer;
  readonly isLink: boolean;
  readonly target:
    | { readonly kind: 'file' | 'directory' | 'other'; readonly stats: BigIntStats }
    | { readonly kind: 'unreachable'; readonly code: string };
  /** Why it is not read, whatever its content. */
  readonly leftOut?: string;
}

/** All of these names in a directory, in the order of the names' bytes. Rejects when it cannot be listed. */
async function listEntries(
  directory: string,
  isWanted: (name: string) => boolean,
): Promise<DirectoryEntry[]> {
  const names = await readdir(directory, { encoding: 'buffer' });
  const entries: DirectoryEntry[] = [];
  for (const name of names.sort((a, b) => a.compare(b))) {
    if (!isWanted(name.toString())) continue;
    const entry = await readEntry(directory, name);
    if (entry !== undefined) entries.push(entry);
  }
  return entries;
}

/** A single file, whose path contains no link; undefined when it is not one. */
export async function readFileEntry(path: string): Promise<DirectoryEntry | undefined> {
  const entry = await readEntry(dirname(path), Buffer.from(basename(path)));
  return entry?.target.kind === 'file' ? entry : undefined;
}

async function readEntry(directory: string, name: Buffer): Promise<DirectoryEntry | undefined> {
  const path = Buffer.concat([Buffer.from(`${directory}/`), name]);
  const text = name.toString();
  let isLink = false;
  try {
    const own = await lstat(path, { bigint: true });
    isLink = own.isSymbolicLink();
    const stats = isLink ? await stat(path, { bigint: true }) : own;
    return { name: text, path, isLink, target: { kind: kindOf(stats), stats } };
  } catch (error) {
    const code = errorCode(error);
    // Removed since the directory was listed.
    if (code === 'ENOENT' && !isLink) return undefined;
    return { name: text, path, isLink, target: { kind: 'unreachable', code } };
  }
}

function kindOf(stats: BigIntStats): 'file' | 'directory' | 'other' {
  if (stats.isFile()) return 'file';
  return stats.isDirectory() ? 'directory' : 'other';
}

/** Enough for any set of rules; a directory with more entries is something else. */
const MAX_ENTRIES = 10_000;

/**
 * Lists a directory and every directory below it that is not hidden (`..data` of a Kubernetes mount would show its files a second
 * time). Follows links to directories, each directory once; `isWanted` may exclude paths. Rejects when one cannot be listed, or
 * when there are more than 10,000 names.
 */
export async function listTree(
  top: string,
  ignoreDotFiles: boolean,
  isWanted: (path: string) => boolean = () => true,
) {
  /** Names are paths relative to the top; a directory precedes its content. */
  const entries: DirectoryEntry[] = [];
  /** The real paths of all directories that were listed, the top first. */
  const directories: string[] = [];
  const seen = new Set<string>();
  const list = async (directory: string, prefix: string): Promise<void> => {
    directories.push(await realpath(directory));
    for (const entry of await listEntries(directory, (name) => isWanted(prefix + name))) {
      const { name, path, target } = entry;
      if (name.startsWith('.') && (ignoreDotFiles || target.kind === 'directory')) continue;
      entries.push({ ...entry, name: prefix + name });
      if (entries.length > MAX_ENTRIES) throw new Error(TOO_MANY);
      if (target.kind !== 'directory' || !isNew(seen, target.stats)) continue;
      await list(path.toString(), `${prefix}${name}/`);
    }
  };
  isNew(seen, await stat(top, { bigint: true }));
  await list(top, '');
  return { entries, directories };
}

const TOO_MANY = `more than ${String(MAX_ENTRIES)} names in it and below it: expected a directory of rule files`;

function isNew(seen: Set<string>, { dev, ino }: { dev: bigint; ino: bigint }): boolean {
  const identity = `${String(dev)}:${String(ino)}`;
  if (seen.has(identity)) return false;
  seen.add(identity);
  return true;
}

/** The path of a file as the reference names it: `config/a.yaml` is `config.a.yaml`. */
function dottedPath(path: string): string {
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
