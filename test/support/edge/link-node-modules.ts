import { execFile } from 'node:child_process';
import { copyFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const ROOT = join(__dirname, '../../..');
/** The one file that npm writes in place: a link to it would change what is installed here. */
const NOTE = 'node_modules/.package-lock.json';

/** Gives a folder what is installed here, linked where it is on the same disk: npm may drop or add what it needs there. */
export async function linkNodeModules(folder: string): Promise<void> {
  const run = promisify(execFile);
  const copy = ['--archive', join(ROOT, 'node_modules'), folder];
  await run('cp', ['--link', ...copy]).catch(() => run('cp', copy));
  await rm(join(folder, NOTE));
  await copyFile(join(ROOT, NOTE), join(folder, NOTE));
}
