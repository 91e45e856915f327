import { basename, dirname, join, parse, resolve, sep } from 'node:path';
import { describeCode, errorCode, toReason } from '../../platform/errors';
import { readFileEntry, type DirectoryEntry } from './list-entries';
import { listTree } from './list-tree';
import { resolvePath, type WatchTarget } from './resolve-path';

/** Where the rule files are: in `root/subdirectory/appDirectory` and below it. */
export interface DirectoryOptions {
  /** RUNTIME_ROOT; usually a symbolic link that is swapped. */
  readonly root: string;
  /** RUNTIME_SUBDIRECTORY; may be empty. */
  readonly subdirectory: string;
  /** RUNTIME_APPDIRECTORY; may be empty. */
  readonly appDirectory: string;
  /** RUNTIME_IGNOREDOTFILES: files whose name begins with a dot are not rule files. */
  readonly ignoreDotFiles: boolean;
  /** What messages call it, where it may be a single file as well; undefined: it is a directory of rule files. */
  readonly fileOr?: string;
}

/** What a directory looks like now, without the content of its files. */
export interface Survey {
  /** The directory as configured, for messages. */
  readonly directory: string;
  /** Of the directory and all below it, but for ignored dot files; undefined when it cannot be listed. */
  readonly entries: readonly DirectoryEntry[] | undefined;
  /** Why it cannot be listed. */
  readonly obstacle: string | undefined;
  /** Differs whenever a file was written, created, removed, renamed or changed its mode, or a link leads elsewhere. */
  readonly fingerprint: string;
  /** When the youngest of the files last changed, Unix seconds; 0 when there is none. */
  readonly changedAtSeconds: number;
  /** It is a single file, in place of a directory. */
  readonly isFile: boolean;
  /** What messages call it. */
  readonly noun: string;
  /** What to watch to learn of the next change. */
  readonly targets: readonly WatchTarget[];
}

export function directoryOf({ root, subdirectory, appDirectory }: DirectoryOptions): string {
  return resolve(join(root, subdirectory, appDirectory));
}

/** Never rejects: what is in the way is part of the survey. */
export async function surveyDirectory(options: DirectoryOptions): Promise<Survey> {
  const directory = directoryOf(options);
  const { root } = parse(directory);
  const below = directory.slice(resolve(options.root).length).split(sep).filter(Boolean);
  const path = await resolvePath(root, directory.slice(root.length), below.length + 1);
  const watched = new Map<string, Set<string> | undefined>();
  const watch = (at: string, name: string) => {
    if (!watched.has(at)) watched.set(at, new Set());
    watched.get(at)?.add(name);
  };
  for (const [at, name] of path.watched) watch(at, name);
  const survey = (
    entries: readonly DirectoryEntry[] | undefined,
    obstacle: string | undefined,
    isFile = false,
  ): Survey => ({
    directory,
    entries,
    obstacle,
    isFile,
    noun: options.fileOr ?? 'the directory of rule files',
    fingerprint: [path.state, obstacle ?? '', ...(entries ?? []).map(identify)].join('\n'),
    changedAtSeconds: (entries ?? []).map(changedAt).reduce((a, b) => Math.max(a, b), 0),
    targets: [...watched].map(([at, names]) => ({ directory: at, names })),
  });
  if (path.obstacle !== undefined) {
    const { path: at, code } = path.obstacle;
    const where = at === directory ? '' : `${JSON.stringify(at)}: `;
    return survey(undefined, `${where}${describeCode(code)}`);
  }
  const real = path.real ?? directory;
  try {
    const file = await findFile(real, options);
    if (file !== undefined) return survey([file], undefined, true);
    const { entries, directories } = await listTree(real, options.ignoreDotFiles);
    for (const each of directories) watched.set(each, undefined);
    for (const link of entries.filter(({ isLink }) => isLink)) {
      const at = link.path.toString();
      const { watched: onTheWay } = await resolvePath(dirname(at), basename(at), 0);
      for (const [within, name] of onTheWay) watch(within, name);
    }
    return survey(entries, undefined);
  } catch (error) {
    watched.set(real, undefined);
    return survey(undefined, reasonOf(error));
  }
}

/** The single file that stands in place of a directory, where one may. */
async function findFile(
  real: string,
  options: DirectoryOptions,
): Promise<DirectoryEntry | undefined> {
  if (options.fileOr === undefined) return undefined;
  const file = await readFileEntry(real);
  return file && { ...file, name: basename(directoryOf(options)) };
}

function reasonOf(error: unknown): string {
  const code = errorCode(error);
  return code === 'unknown' ? toReason(error) : describeCode(code);
}

function identify({ path, isLink, target }: DirectoryEntry): string {
  const name = path.toString('latin1');
  if (target.kind === 'unreachable') return `${name} ${target.code}`;
  const { dev, ino, mode, size, mtimeNs, ctimeNs } = target.stats;
  // The times of a directory change with files in it that are none of ours.
  const version = target.kind === 'directory' ? [] : [mode, size, mtimeNs, ctimeNs];
  return [name, isLink, dev, ino, ...version].map(String).join(' ');
}

function changedAt({ target }: DirectoryEntry): number {
  return target.kind === 'file' ? Number(target.stats.ctimeNs) / 1e9 : 0;
}
