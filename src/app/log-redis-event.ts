import type { RedisEvent } from '../counters/redis/options';
import type { Logger } from '../platform/logger/logger';

/** What happens to the store, in the log; `store` is its address, reasons hold no credential. */
export function logRedisEvent(logger: Logger, event: RedisEvent): void {
  const { kind, store, ...fields } = event;
  switch (kind) {
    case 'connected':
      logger.info(`connected to the store at ${store}`, fields);
      return;
    case 'disconnected':
      logger.warn(`lost the store at ${store}, connecting again`, fields);
      return;
    case 'unreachable':
      logger.warn(`cannot reach the store at ${store}, trying again`, fields);
      return;
    case 'scripts-refused':
      logger.warn(`the store at ${store} takes no scripts, using plain commands`, fields);
      return;
    case 'hold-back-not-atomic':
      logger.warn(
        `STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT is not atomic at ${store}, which takes no scripts`,
      );
  }
}
