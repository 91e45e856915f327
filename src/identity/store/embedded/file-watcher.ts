import { setTimeout as delay } from 'node:timers/promises';
import { Observable } from 'rxjs';
import type { Logger } from '../../../platform/logger';
import { StoreUnavailable } from '../store';
import { toReason } from '../../../platform/errors';
import { EMPTY_DOCUMENT, type StoreDocument } from './document';
import { fileSignature, readDocument } from './document-file';

/** Interval of checking the file's status: cheap, and it detects what watchers miss (network file systems, bind mounts). */
const LOOK_EVERY_MS = 250;
/** Lookups of unknown ids cause at most one check in this time. */
const LOOK_AGAIN_EVERY_MS = 5;
/** Leaves time to answer within a second when the file system hangs. */
const LOOK_WITHIN_MS = 500;

/** The last good content of the store file. */
export function createFileWatcher(file: string, logger: Logger) {
  let document: StoreDocument | undefined;
  let failure = 'it was not read yet';
  let seen: string | undefined = 'never';
  let complete: () => void = () => undefined;
  let isClosed = false;
  let writes = 0;
  let lookedMs = -Infinity;
  let looking: Promise<void> = Promise.resolve();
  let nextLook: Promise<void> | undefined;

  const take = async (signature: string | undefined): Promise<void> => {
    const writesBefore = writes;
    const read = await readDocument(file);
    // It may be older than this process' own writes since: the next check reads it.
    if (writes !== writesBefore) return;
    seen = signature;
    if (read === undefined && document !== undefined) {
      logger.warn('the store file is gone, its last content stays in use', { file });
      return;
    }
    document = read ?? EMPTY_DOCUMENT;
    if (read === undefined) logger.info('there is no store file yet', { file });
    else logger.debug('read the store file', { file, users: read.users.size });
  };

  const checkOnce = async (): Promise<void> => {
    lookedMs = performance.now();
    let signature: string | undefined;
    try {
      signature = await fileSignature(file);
      if (signature !== seen) await take(signature);
    } catch (error) {
      const reason = toReason(error);
      const isNews = failure !== reason || (signature !== undefined && signature !== seen);
      failure = reason;
      seen = signature ?? 'failed';
      const kept =
        document === undefined ? 'there is nothing to serve' : 'its last content stays in use';
      if (isNews) logger.error(`the store file cannot be used, ${kept}`, { file, reason });
    }
  };
  /** Serialized: a slow check must not replace newer content by older. */
  const check = (): Promise<void> => (looking = looking.then(checkOnce));
  const checkSoon = async (): Promise<void> => {
    await delay(Math.max(0, lookedMs + LOOK_AGAIN_EVERY_MS - performance.now()));
    nextLook = undefined;
    await Promise.race([check(), delay(LOOK_WITHIN_MS, undefined, { ref: false })]);
  };

  return {
    /** Reads the file again whenever it has changed; completes after `close`. */
    run$: new Observable<never>((subscriber) => {
      complete = () => {
        subscriber.complete();
      };
      if (isClosed) complete();
      let timer: NodeJS.Timeout | undefined;
      const checkLater = (): void => {
        timer = setTimeout(() => {
          void check().then(() => {
            if (!subscriber.closed) checkLater();
          });
        }, LOOK_EVERY_MS);
      };
      checkLater();
      return () => {
        clearTimeout(timer);
      };
    }),
    /** Reads it for the first time; logs a file that cannot be read. */
    open: check,
    /** Settles when a check that began after the call has ended, or has taken too long. Never rejects. */
    checkAgain: () => (nextLook ??= checkSoon()),
    /** Throws `StoreUnavailable` when the file was never valid. */
    current() {
      if (document !== undefined) return document;
      throw new StoreUnavailable(`the store file ${file} cannot be used: ${failure}`);
    },
    /** The content that this process has just written. */
    set(written: StoreDocument) {
      writes += 1;
      document = written;
    },
    close() {
      isClosed = true;
      complete();
    },
  };
}
