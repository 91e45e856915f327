import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Logger } from '../../../platform/logger/logger';

const WRITABLE_BY_OTHERS = 0o022;
/** In such a folder (`/tmp`) others may not replace a file that is not theirs. */
const STICKY = 0o1000;
const PERMISSIONS = 0o7777;

/** Whoever may write the store file, or put another in its place, can let anybody in as anybody. */
export async function warnOfWriters(file: string, logger: Logger): Promise<void> {
  await warnOf('the store file', file, 0, logger);
  await warnOf('the folder of the store file', dirname(file), STICKY, logger);
}

async function warnOf(what: string, path: string, harmless: number, logger: Logger): Promise<void> {
  // What is not there, or cannot be looked at, is reported by whoever reads it.
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
