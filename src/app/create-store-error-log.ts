import type { StoreError } from '../core/errors';
import type { Logger } from '../platform/logger/logger';

export interface StoreErrorLogDeps {
  readonly logger: Logger;
  readonly monotonicMs: () => number;
}

const WARN_EVERY_MS = 10_000;

/**
 * Warns of what the counter store did not count, with its address and its own words, which callers are not given; of one
 * batch in ten seconds, with the number of those left out. An open breaker has lines of its own.
 */
export function createStoreErrorLog({
  logger,
  monotonicMs,
}: StoreErrorLogDeps): (error: StoreError) => void {
  let warnedMs = -Infinity;
  let othersBefore = 0;
  return ({ fault, code, message }) => {
    if (fault === 'breaker') return;
    if (monotonicMs() - warnedMs < WARN_EVERY_MS) {
      othersBefore += 1;
      return;
    }
    logger.warn('counters could not be counted', { code, reason: message, othersBefore });
    warnedMs = monotonicMs();
    othersBefore = 0;
  };
}
