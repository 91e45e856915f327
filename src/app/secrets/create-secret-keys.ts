import { readFileSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { defer, EMPTY, map, type Observable } from 'rxjs';
import { createStopSignal, renewWhenGood } from '../../../streams';
import type { Clock, Statistics } from '../../core/ports';
import { toReason } from '../../platform/errors';
import type { Logger } from '../../platform/logger';
import { keyAt, parseSecretKeys, TokenMaker } from '../../platform/secret-keys';
import type { Actor } from '../actor';

export interface SecretKeysDeps {
  readonly statistics: Pick<Statistics, 'count'>;
  readonly logger: Logger;
  readonly clock: Clock;
}

/** The keys of SECRET_KEYS_FILE, read again whenever the file changes. */
export interface SecretKeys extends Actor {
  readonly tokens: TokenMaker;
  /** Emits after each successful change. One subscriber. */
  readonly run$: Observable<unknown>;
}

/** As for certificates: a small file, cheap enough to read, so that no kind of swap is missed. */
const LOOK_EVERY_MS = 1_000;

const READABLE_BY_OTHERS = 0o004;

const LOADED = 'ratelimit.service.secret_keys_load_success';
const REFUSED = 'ratelimit.service.secret_keys_load_error';

/** Throws when the file cannot be used at the start; later the last good keys stay in use. Without a file there are none. */
export function createSecretKeys(file: string | undefined, deps: SecretKeysDeps): SecretKeys {
  const { statistics, logger, clock } = deps;
  if (file === undefined)
    return { tokens: new TokenMaker(clock), run$: EMPTY, close: () => undefined };
  const stopping = createStopSignal();
  const first = readNow(file);
  const tokens = new TokenMaker(clock);
  const use = (text: string): void => {
    tokens.use(parseSecretKeys(text));
    statistics.count(LOADED, 1);
    const ids = tokens.keys.map(({ id }) => id).join(', ');
    logger.info('loaded the secret keys', { ids, now: keyAt(tokens.keys, clock())?.id });
    warnOfReaders(file, logger);
  };
  use(first);
  return {
    tokens,
    run$: renewWhenGood({
      first,
      everyMs: LOOK_EVERY_MS,
      look: () => defer(() => readFile(file, 'utf8')),
      isSame: (a, b) => a === b,
      check: parseSecretKeys,
      onFault: (error) => {
        statistics.count(REFUSED, 1);
        const reason = toReason(error);
        logger.error('the new file of secret keys cannot be used, the old keys stay in use', {
          reason,
        });
      },
    }).pipe(map(use), stopping.until()),
    close: () => {
      stopping.stop();
    },
  };
}

function readNow(file: string): string {
  try {
    const text = readFileSync(file, 'utf8');
    parseSecretKeys(text);
    return text;
  } catch (error) {
    throw new Error(`SECRET_KEYS_FILE: ${toReason(error)}`, { cause: error });
  }
}

function warnOfReaders(file: string, logger: Logger): void {
  const mode = statSync(file, { throwIfNoEntry: false })?.mode ?? 0;
  if ((mode & READABLE_BY_OTHERS) === 0) return;
  logger.warn(`the file of secret keys is readable by other users: chmod o-r ${file}`);
}
