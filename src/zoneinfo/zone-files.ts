import type { ZoneData, ZoneOrigin } from '../core/windows/zone-data';
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { errorCode, toReason } from '../platform/errors';

/** Zones in files. Reading throws an error that says what was expected. */
export interface ZoneFiles extends ZoneOrigin {
  /** The file of a zone. */
  readonly fileOf: (name: string) => string;
  /** Undefined: it has no zone with this name. */
  readonly read: (name: string) => ZoneData | undefined;
  /** All of its zones; undefined: unknown. */
  readonly names?: () => readonly string[];
  /** The name in its own case, for one in any case; undefined: it has none. */
  readonly nameOf?: (name: string) => string | undefined;
}

/** More than any zone needs: the largest has 3 KiB. */
const MAX_FILE_BYTES = 1024 * 1024;

/** A part of a file; without a length it extends to the end. */
interface FilePart {
  readonly from?: number;
  readonly length?: number;
}

/** A file that cannot be read: it may be another one than was looked for, such as the one with the release. */
export class FileError extends Error {
  override readonly name = 'FileError';
  readonly file: string;
  constructor(file: string, cause: unknown) {
    super(toReason(cause), { cause });
    this.file = file;
  }
}

/**
 * Reads a plain file of at most 1 MiB; undefined: there is none with this name. Throws a `FileError` that says what was expected,
 * and never waits, whatever kind of file it is.
 */
export function readPart(path: string, part: FilePart = {}): Buffer | undefined {
  try {
    return readOpened(path, part);
  } catch (error) {
    throw new FileError(path, error);
  }
}

function readOpened(path: string, { from = 0, length }: FilePart): Buffer | undefined {
  const file = openPlain(path);
  if (file === undefined) return undefined;
  try {
    const stat = fstatSync(file);
    if (!stat.isFile()) throw new Error('it is not a plain file: expected one');
    if (stat.size > MAX_FILE_BYTES)
      throw new Error(`it has ${String(stat.size)} bytes: expected at most 1 MiB`);
    const bytes = Buffer.alloc(Math.max(0, Math.min(length ?? Infinity, stat.size - from)));
    let done = 0;
    while (done < bytes.length) {
      const got = readSync(file, bytes, done, bytes.length - done, from + done);
      if (got === 0) break;
      done += got;
    }
    return bytes.subarray(0, done);
  } finally {
    closeSync(file);
  }
}

const ABSENT = ['ENOENT', 'ENOTDIR'];

/** Opens a pipe without waiting, too. */
function openPlain(path: string): number | undefined {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (ABSENT.includes(errorCode(error))) return undefined;
    throw error;
  }
}

/** A release of tzdata, as `2026f`; packagers may add to it. */
const RELEASE = /^\d{4}[a-z]{1,2}/;

/** The release in a text; undefined: there is none. */
export function toRelease(text: string | undefined): string | undefined {
  return text === undefined ? undefined : RELEASE.exec(text)?.[0];
}

/** Newest first; unknown releases come last. */
export function byRelease(
  a: { readonly release: string | undefined },
  b: { readonly release: string | undefined },
): number {
  const [older, newer] = [a.release ?? '', b.release ?? ''];
  return older === newer ? 0 : older < newer ? 1 : -1;
}

const A = 96;

/** For a gauge: 202606 for `2026f`; 0: unknown. */
export function releaseNumber(release: string | undefined): number {
  if (release === undefined) return 0;
  let letters = 0;
  for (let at = 4; at < release.length; at += 1) letters += release.charCodeAt(at) - A;
  return Number(release.slice(0, 4)) * 100 + letters;
}
