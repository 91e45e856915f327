import type { BigIntStats } from 'node:fs';
import { lstat, readdir, stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
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
export async function listEntries(
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
