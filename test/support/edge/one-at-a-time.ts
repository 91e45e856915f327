import { readlinkSync, symlinkSync, unlinkSync } from 'node:fs';

const LOOK_EVERY_MS = 50;

/** Runs a task while no other process, such as another worker of jest, runs one under the same lock. */
export function oneAtATime<T>(lock: string, task: () => T): T {
  const clock = new Int32Array(new SharedArrayBuffer(4));
  while (!take(lock)) {
    if (isLeftBehind(lock)) unlinkSync(lock);
    else Atomics.wait(clock, 0, 0, LOOK_EVERY_MS);
  }
  try {
    return task();
  } finally {
    unlinkSync(lock);
  }
}

/** A link appears at one blow together with the process that it names. */
function take(lock: string): boolean {
  try {
    symlinkSync(String(process.pid), lock);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function isLeftBehind(lock: string): boolean {
  try {
    return !process.kill(Number(readlinkSync(lock)), 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}
