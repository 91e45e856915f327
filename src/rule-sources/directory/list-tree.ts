import { realpath, stat } from 'node:fs/promises';
import { listEntries, type DirectoryEntry } from './list-entries';

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
