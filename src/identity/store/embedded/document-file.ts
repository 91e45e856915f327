import { randomUUID } from 'node:crypto';
import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorCode, toReason } from '../../../platform/errors';
import type { Logger } from '../../../platform/logger';
import { EMPTY_DOCUMENT, parseDocument, printDocument, type StoreDocument } from './document';
import { withLock } from './lock';

const OWNER_ONLY = 0o600;
const OWNER_ONLY_FOLDER = 0o700;
const LOCK_WITHIN_MS = 5_000;

/** The file's content; undefined when there is no file. Rejects when it cannot be read or is damaged. */
export async function readDocument(file: string): Promise<StoreDocument | undefined> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
  try {
    return parseDocument(text);
  } catch (error) {
    throw new Error(`it is damaged: ${toReason(error)}`, { cause: error });
  }
}

/** Changes with every write; undefined when there is no file. */
export async function fileSignature(file: string): Promise<string | undefined> {
  try {
    const { ino, size, mtimeNs, ctimeNs } = await stat(file, { bigint: true });
    return [ino, size, mtimeNs, ctimeNs].join(' ');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Reads, changes and writes as one step among all writers; undefined from `change`: nothing to write. */
export async function changeDocument(
  file: string,
  change: (document: StoreDocument) => StoreDocument | undefined,
): Promise<StoreDocument> {
  await mkdir(dirname(file), { recursive: true, mode: OWNER_ONLY_FOLDER });
  return withLock(`${file}.lock`, { withinMs: LOCK_WITHIN_MS }, async () => {
    const before = (await readDocument(file)) ?? EMPTY_DOCUMENT;
    const after = change(before);
    if (after === undefined) return before;
    await writeAtomically(file, printDocument(after));
    return after;
  });
}

/** A reader sees the old content or the new one, even after a loss of power. */
async function writeAtomically(file: string, text: string): Promise<void> {
  const draft = `${file}.${randomUUID()}`;
  try {
    const handle = await open(draft, 'wx', OWNER_ONLY);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  const folder = await open(dirname(file), 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

const WRITABLE_BY_OTHERS = 0o022;
/** In such a folder (`/tmp`) others may not replace a file that is not theirs. */
const STICKY = 0o1000;
const PERMISSIONS = 0o7777;

/** Warns when others may write or replace the store file: they could give themselves any identity. */
export async function warnOfWriters(file: string, logger: Logger): Promise<void> {
  await warnOf('the store file', file, 0, logger);
  await warnOf('the folder of the store file', dirname(file), STICKY, logger);
}

async function warnOf(what: string, path: string, harmless: number, logger: Logger): Promise<void> {
  // A missing or unreadable file is reported when it is read.
  const mode = await stat(path).then(
    (stats) => stats.mode & PERMISSIONS,
    () => 0,
  );
  if ((mode & WRITABLE_BY_OTHERS) === 0 || (mode & harmless) !== 0) return;
  logger.warn(`${what} may be written by others: chmod go-w ${path}`, {
    path,
    mode: mode.toString(8).padStart(4, '0'),
  });
}
