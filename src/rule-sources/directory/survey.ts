import { lstat, readlink } from 'node:fs/promises';
import { basename, dirname, join, parse, sep, resolve } from 'node:path';
import { errorCode, describeCode, toReason } from '../../platform/errors';
import { readFileEntry, type DirectoryEntry, listTree, besideOf } from './entries';

/** The location of rule files: `root/subdirectory/appDirectory` and below. */
export interface DirectoryOptions {
  /** RUNTIME_ROOT; usually a symbolic link that is swapped. */
  readonly root: string;
  /** RUNTIME_SUBDIRECTORY; may be empty. */
  readonly subdirectory: string;
  /** RUNTIME_APPDIRECTORY; may be empty. */
  readonly appDirectory: string;
  /** RUNTIME_IGNOREDOTFILES: files whose name begins with a dot are not rule files. */
  readonly ignoreDotFiles: boolean;
  /**
   * `named`, the default: files that end in .yaml or .yml. `any`: files of any name, as in the reference. `dotted`: also those
   * beside the directory whose dotted path begins with its name, such as `config.yaml`.
   */
  readonly takes?: Takes;
  /** Its name in messages, where it may be a single file as well; undefined: it is a directory of rule files. */
  readonly fileOr?: string;
}

export type Takes = 'named' | 'any' | 'dotted';

/** The current state of a directory, without the content of its files. */
export interface Survey {
  /** The directory as configured, for messages. */
  readonly directory: string;
  /** The entries of the directory and all below it, without ignored dot files; undefined when it cannot be listed. */
  readonly entries: readonly DirectoryEntry[] | undefined;
  /** Why it cannot be listed. */
  readonly obstacle: string | undefined;
  /** Differs whenever a file was written, created, removed, renamed or changed its mode, or a link leads elsewhere. */
  readonly fingerprint: string;
  /** When the youngest of the files last changed, Unix seconds; 0 when there is none. */
  readonly changedAtSeconds: number;
  /** It is a single file instead of a directory. */
  readonly isFile: boolean;
  readonly takes: Takes;
  readonly appDirectory: string;
  /** Its name in messages. */
  readonly noun: string;
  /** What to watch for the next change. */
  readonly targets: readonly WatchTarget[];
}

export function directoryOf({ root, subdirectory, appDirectory }: DirectoryOptions): string {
  return resolve(join(root, subdirectory, appDirectory));
}

/** Never rejects: obstacles are part of the survey. */
export async function surveyDirectory(options: DirectoryOptions): Promise<Survey> {
  const directory = directoryOf(options);
  const { root } = parse(directory);
  const below = directory.slice(resolve(options.root).length).split(sep).filter(Boolean);
  const path = await resolvePath(root, directory.slice(root.length), below.length + 1);
  const found = await findEntries(options, path);
  const watched = new Map<string, Set<string> | undefined>();
  const watch = (at: string, name: string) => {
    if (!watched.has(at)) watched.set(at, new Set());
    watched.get(at)?.add(name);
  };
  for (const [at, name] of path.watched) watch(at, name);
  for (const each of found.directories) watched.set(each, undefined);
  const { entries = [], obstacle } = found;
  for (const link of found.isFile ? [] : entries.filter(({ isLink }) => isLink)) {
    const at = link.path.toString();
    const { watched: onTheWay } = await resolvePath(dirname(at), basename(at), 0);
    for (const [within, name] of onTheWay) watch(within, name);
  }
  return {
    directory,
    entries: found.entries,
    obstacle,
    isFile: found.isFile === true,
    takes: options.takes ?? 'named',
    appDirectory: options.appDirectory,
    noun: options.fileOr ?? 'the directory of rule files',
    fingerprint: [path.state, obstacle ?? '', ...entries.map(identify)].join('\n'),
    changedAtSeconds: entries.map(changedAt).reduce((a, b) => Math.max(a, b), 0),
    targets: [...watched].map(([at, names]) => ({ directory: at, names })),
  };
}

interface Found {
  readonly entries?: readonly DirectoryEntry[] | undefined;
  /** Directories to watch. */
  readonly directories: readonly string[];
  readonly obstacle?: string | undefined;
  readonly isFile?: boolean;
}

const NOTHING: Found = { entries: [], directories: [] };

async function findEntries(options: DirectoryOptions, path: ResolvedPath): Promise<Found> {
  const within = await findWithin(options, path);
  if (options.takes !== 'dotted') return within;
  const beside = await listBeside(options);
  const directories = [...beside.directories, ...within.directories];
  if (beside.entries === undefined) return { ...beside, directories };
  if (path.obstacle?.code === 'ENOENT' && beside.entries.length > 0)
    return { entries: beside.entries, directories };
  const entries = within.entries && [...within.entries, ...beside.entries];
  return { ...within, entries, directories };
}

/** The content of the directory, or the file in its place. */
async function findWithin(options: DirectoryOptions, path: ResolvedPath): Promise<Found> {
  const directory = directoryOf(options);
  if (path.obstacle !== undefined) {
    const { path: at, code } = path.obstacle;
    const where = at === directory ? '' : `${JSON.stringify(at)}: `;
    return { directories: [], obstacle: `${where}${describeCode(code)}` };
  }
  const real = path.real ?? directory;
  try {
    const file = await findFile(real, options);
    if (file === undefined) return await listTree(real, options.ignoreDotFiles);
    return { entries: [file], directories: [], isFile: file.leftOut === undefined };
  } catch (error) {
    return { directories: [real], obstacle: reasonOf(error) };
  }
}

/** The files beside the directory whose dotted path begins with its name; none where the parent cannot be listed. */
async function listBeside(options: DirectoryOptions): Promise<Found> {
  const { root, subdirectory, appDirectory, ignoreDotFiles } = options;
  const { mayHold, isTaken } = besideOf(appDirectory);
  const above = resolve(join(root, subdirectory));
  try {
    const { entries, directories } = await listTree(above, ignoreDotFiles, mayHold);
    const files = entries.filter(
      ({ name, target }) => target.kind !== 'directory' && isTaken(name),
    );
    return { entries: files.map((file) => ({ ...file, name: `../${file.name}` })), directories };
  } catch (error) {
    if (error instanceof Error && 'path' in error && error.path === above) return NOTHING;
    return { directories: [above], obstacle: `beside it: ${reasonOf(error)}` };
  }
}

/** The single file in place of a directory, where one is allowed. */
async function findFile(
  real: string,
  options: DirectoryOptions,
): Promise<DirectoryEntry | undefined> {
  if (options.fileOr === undefined) return undefined;
  const file = await readFileEntry(real);
  if (file === undefined) return undefined;
  const name = basename(directoryOf(options));
  return options.takes === 'dotted'
    ? { ...file, name: `../${name}`, leftOut: FILE_OF_ITS_NAME }
    : { ...file, name };
}

const FILE_OF_ITS_NAME =
  'not read: expected a directory, a name that goes on with a dot, or RUNTIME_WATCH_ROOT=false, which reads this file';

function reasonOf(error: unknown): string {
  const code = errorCode(error);
  return code === 'unknown' ? toReason(error) : describeCode(code);
}

function identify({ path, isLink, target }: DirectoryEntry): string {
  const name = path.toString('latin1');
  if (target.kind === 'unreachable') return `${name} ${target.code}`;
  const { dev, ino, mode, size, mtimeNs, ctimeNs } = target.stats;
  // The times of a directory change with files in it that are not ours.
  const version = target.kind === 'directory' ? [] : [mode, size, mtimeNs, ctimeNs];
  return [name, isLink, dev, ino, ...version].map(String).join(' ');
}

function changedAt({ target }: DirectoryEntry): number {
  return target.kind === 'file' ? Number(target.stats.ctimeNs) / 1e9 : 0;
}

/** A directory to watch; only for these names when they are given. */
export interface WatchTarget {
  readonly directory: string;
  readonly names: ReadonlySet<string> | undefined;
}

/** The target of a path, and what would change it. */
interface ResolvedPath {
  /** The real path; undefined when it leads nowhere. */
  readonly real: string | undefined;
  /** The path that failed and the system's error code. */
  readonly obstacle: { readonly path: string; readonly code: string } | undefined;
  /** Directory and name of everything whose replacement would change the target. */
  readonly watched: readonly (readonly [directory: string, name: string])[];
  /** Changes with every link of the path and with the identity of the target. */
  readonly state: string;
}

/** Linux's own limit of symbolic links. */
const MAX_LINKS = 40;

/**
 * Follows a path link by link, as the kernel does, from the real directory `start`. Its last `watchedSteps` names are watched even
 * where they are not links, and so are every link, its target, and missing parts.
 */
export async function resolvePath(
  start: string,
  path: string,
  watchedSteps: number,
): Promise<ResolvedPath> {
  const names = path.split(sep).filter(isName);
  const steps = names.map((name, i) => ({ name, watched: i >= names.length - watchedSteps }));
  const watched: (readonly [string, string])[] = [];
  const states: string[] = [];
  let real = start;
  let links = 0;
  const blocked = (at: string, code: string): ResolvedPath => {
    const state = [...states, at, code].join('\n');
    return { real: undefined, obstacle: { path: at, code }, watched, state };
  };
  for (let step = steps.shift(); step !== undefined; step = steps.shift()) {
    const at = join(real, step.name);
    const found = await look(at);
    if (step.watched || found.kind !== 'plain') watched.push([dirname(at), basename(at)]);
    if (found.kind === 'missing') {
      watched.push([dirname(real), basename(real)]);
      return blocked(at, found.code);
    }
    if (found.kind === 'plain') {
      real = at;
      if (steps.length === 0) states.push(at, found.identity);
      continue;
    }
    links += 1;
    if (links > MAX_LINKS) return blocked(at, 'ELOOP');
    states.push(at, found.target);
    const { root } = parse(found.target);
    if (root !== '') real = root;
    const target = found.target.slice(root.length).split(sep).filter(isName);
    steps.unshift(...target.map((name, i) => ({ name, watched: i === target.length - 1 })));
  }
  return { real, obstacle: undefined, watched, state: states.join('\n') };
}

function isName(name: string): boolean {
  return name !== '' && name !== '.';
}

type PathPart =
  | { readonly kind: 'plain'; readonly identity: string }
  | { readonly kind: 'link'; readonly target: string }
  | { readonly kind: 'missing'; readonly code: string };

async function look(path: string): Promise<PathPart> {
  try {
    const stats = await lstat(path);
    if (stats.isSymbolicLink()) return { kind: 'link', target: await readlink(path) };
    return { kind: 'plain', identity: `${String(stats.dev)}:${String(stats.ino)}` };
  } catch (error) {
    return { kind: 'missing', code: errorCode(error) };
  }
}
