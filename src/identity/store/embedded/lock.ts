import { randomUUID } from 'node:crypto';
import { link, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { errorCode } from '../../../platform/errors';

const RETRY_MS = 15;
/** No change takes this long; a longer holder has died on another machine. */
const STALE_MS = 15_000;

export interface LockOptions {
  /** How long to wait for another writer. */
  readonly withinMs: number;
}

/** Runs a task while no other task, in any process, runs under the same lock file. */
export async function withLock<T>(
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
