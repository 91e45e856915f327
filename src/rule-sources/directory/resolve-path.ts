import { lstat, readlink } from 'node:fs/promises';
import { basename, dirname, join, parse, sep } from 'node:path';
import { errorCode } from '../../platform/errors';

/** A directory to watch; only for these names when they are given. */
export interface WatchTarget {
  readonly directory: string;
  readonly names: ReadonlySet<string> | undefined;
}

/** The target of a path, and what would change it. */
export interface ResolvedPath {
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

type Found =
  | { readonly kind: 'plain'; readonly identity: string }
  | { readonly kind: 'link'; readonly target: string }
  | { readonly kind: 'missing'; readonly code: string };

async function look(path: string): Promise<Found> {
  try {
    const stats = await lstat(path);
    if (stats.isSymbolicLink()) return { kind: 'link', target: await readlink(path) };
    return { kind: 'plain', identity: `${String(stats.dev)}:${String(stats.ino)}` };
  } catch (error) {
    return { kind: 'missing', code: errorCode(error) };
  }
}
