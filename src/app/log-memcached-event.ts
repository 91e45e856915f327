import type { MemcachedEvent } from '../counters/memcached/options';
import type { Logger } from '../platform/logger/logger';

/** What happens to the nodes, in the log; `store` is a node's address or the SRV record. */
export function logMemcachedEvent(logger: Logger, event: MemcachedEvent): void {
  const { kind, store, ...fields } = event;
  switch (kind) {
    case 'connected':
      logger.info(`connected to memcached at ${store}`, fields);
      return;
    case 'disconnected':
      logger.warn(`lost memcached at ${store}, connecting again`, fields);
      return;
    case 'unreachable':
      logger.warn(`cannot reach memcached at ${store}, trying again`, fields);
      return;
    case 'nodes':
      logger.info(`the memcached nodes of ${store} have changed`, fields);
      return;
    case 'unresolved':
      logger.warn(`cannot resolve the memcached nodes of ${store}, trying again`, fields);
      return;
    case 'not-added':
      logger.warn(`hits were answered and could not be added at memcached ${store}`, fields);
  }
}
