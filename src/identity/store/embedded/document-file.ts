import { randomUUID } from 'node:crypto';
import { mkdir, open, readFile, rename, rm, stat, link } from 'node:fs/promises';
import { dirname } from 'node:path';
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { errorCode, toReason } from '../../../platform/errors';
import type { Logger } from '../../../platform/logger';
import { EMPTY_DOCUMENT, parseDocument, printDocument, type StoreDocument } from './document';

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

const RETRY_MS = 15;
/** No change takes this long; a longer holder has died on another machine. */
const STALE_MS = 15_000;

interface LockOptions {
  /** How long to wait for another writer. */
  readonly withinMs: number;
}

/** Runs a task while no other task, in any process, runs under the same lock file. */
async function withLock<T>(
  file: string,
  { withinMs }: LockOptions,
  task: () => Promise<T>,
): Promise<T> {
  const owner = `${String(process.pid)}@${hostname()} ${randomUUID()}`;
  const giveUpAt = performance.now() + withinMs;
  while (!(await take(file, owner))) {
    await removeStale(file);
    if (performance.now() > giveUpAt)
      throw new Error(`another writer has held ${file} for more than ${String(withinMs)} ms`);
    await delay(RETRY_MS);
  }
  try {
    return await task();
  } finally {
    if ((await readOwner(file)) === owner) await rm(file, { force: true });
  }
}

/** A link appears with its content, so that a lock always has an owner. */
async function take(file: string, owner: string): Promise<boolean> {
  const draft = `${file}.${randomUUID()}`;
  const handle = await open(draft, 'wx', 0o600);
  try {
    await handle.writeFile(owner);
    await handle.close();
    await link(draft, file);
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

async function removeStale(file: string): Promise<void> {
  const owner = await readOwner(file);
  if (owner === undefined || !(await isStale(file, owner))) return;
  const aside = `${file}.${randomUUID()}`;
  try {
    await rename(file, aside);
    // Another process was faster and this lock is its new one: give it back.
    if ((await readOwner(aside)) !== owner) await link(aside, file);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT' && errorCode(error) !== 'EEXIST') throw error;
  } finally {
    await rm(aside, { force: true });
  }
}

async function isStale(file: string, owner: string): Promise<boolean> {
  const [, pid = '', host] = /^(\d+)@(\S+)/.exec(owner) ?? [];
  if (host === hostname() && !isRunning(Number(pid))) return true;
  try {
    return Date.now() - (await stat(file)).mtimeMs > STALE_MS;
  } catch {
    return false;
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}

async function readOwner(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
