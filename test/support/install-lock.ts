import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

const LOOK_EVERY_MS = 200;

/**
 * Runs `install` while no other process does so with the same lock: test files run side by side, and on a fresh clone
 * several of them build the same program. Blocks, as a build does.
 */
export function installAlone<T>(lock: string, install: () => T): T {
  mkdirSync(dirname(lock), { recursive: true });
  while (!isTaken(lock))
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOOK_EVERY_MS);
  try {
    return install();
  } finally {
    rmSync(lock, { force: true });
  }
}

/** Takes the lock unless a process that lives holds it. */
function isTaken(lock: string): boolean {
  try {
    const file = openSync(lock, 'wx');
    writeSync(file, String(process.pid));
    closeSync(file);
    return true;
  } catch {
    if (hasLivingOwner(lock)) return false;
    rmSync(lock, { force: true });
    return false;
  }
}

function hasLivingOwner(lock: string): boolean {
  try {
    // Empty while its owner writes, which makes it 0: this group of processes, which lives.
    process.kill(Number(readFileSync(lock, 'utf8')), 0);
    return true;
  } catch (error) {
    // Just given back: there is nobody whose lock could be taken away.
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}
