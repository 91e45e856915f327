import type { Logger } from '../../src/platform/logger';

const nothing = () => undefined;

/** A log that nobody reads. */
export const silentLogger: Logger = {
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
};
