import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import type { Logger } from '../../platform/logger/logger';
import { toReason } from '../../platform/errors';
import { KeysUnavailable } from './jwt-verifier';

export interface KeySetDeps {
  /** Reads the whole set; rejects within its own time-out. */
  readonly load: () => Promise<unknown>;
  /** Milliseconds of a clock that never goes back. */
  readonly monotonicMs: () => number;
  readonly logger: Logger;
}

export interface KeySetOptions {
  /** Where it comes from, for the log. */
  readonly name: string;
  /** A good set is read again after this time, while the old one serves. */
  readonly refreshMs: number;
}

/** However many tokens name unknown keys, and however the source fails, it is asked once in this time. */
const ASK_EVERY_MS = 5_000;

/** Keys by which tokens are checked; the last good set keeps serving while its source is away. */
export function createKeySet(
  deps: KeySetDeps,
  { name, refreshMs }: KeySetOptions,
): JWTVerifyGetKey {
  const { load, monotonicMs, logger } = deps;
  let find: JWTVerifyGetKey | undefined;
  let lastGoodMs = -Infinity;
  let lastAskedMs = -Infinity;
  let failure: string | undefined = 'it was not read yet';
  let warnedOf: string | undefined;
  let asking: Promise<void> | undefined;

  const ask = async (): Promise<void> => {
    try {
      find = createLocalJWKSet((await load()) as JSONWebKeySet);
      lastGoodMs = monotonicMs();
      if (failure !== undefined) logger.info('read the key set', { keys: name });
      failure = undefined;
    } catch (error) {
      const reason = toReason(error);
      const kept = find === undefined ? 'no JWT can be checked' : 'its last content stays';
      if (failure !== reason)
        logger.error(`the key set cannot be read, ${kept}`, { keys: name, reason });
      failure = reason;
    }
  };
  /** Asks unless it was done a moment ago; whoever comes meanwhile waits for the same answer. */
  const askAgain = (): Promise<void> => {
    if (asking !== undefined) return asking;
    if (monotonicMs() - lastAskedMs < ASK_EVERY_MS) return Promise.resolve();
    lastAskedMs = monotonicMs();
    asking = ask().finally(() => (asking = undefined));
    return asking;
  };
  const current = (): JWTVerifyGetKey => {
    if (find === undefined) throw new KeysUnavailable(`the key set ${name}: ${String(failure)}`);
    return find;
  };
  /** A key that is there and cannot be used (a private one, a point off its curve) refuses its tokens. */
  const warnOfKey = (error: unknown): void => {
    if (error instanceof errors.JWKSNoMatchingKey) return;
    const reason = toReason(error);
    if (reason !== warnedOf)
      logger.warn('the key set has a key that cannot be used, tokens that name it are refused', {
        keys: name,
        reason,
      });
    warnedOf = reason;
  };

  return async (header, token) => {
    if (find === undefined) await askAgain();
    else if (monotonicMs() - lastGoodMs > refreshMs) void askAgain();
    try {
      return await current()(header, token);
    } catch (error) {
      if (error instanceof KeysUnavailable || error instanceof errors.JWKSMultipleMatchingKeys)
        throw error;
      warnOfKey(error);
    }
    // A key that is new since, or one that was repaired.
    await askAgain();
    if (failure !== undefined) throw new KeysUnavailable(`the key set ${name}: ${failure}`);
    return current()(header, token);
  };
}
