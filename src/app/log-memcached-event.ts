import type { MemcachedEvent } from '../counters/memcached/options';
import type { Logger } from '../platform/logger/logger';
import type { OutageLog } from './outage-log';

/** What happens to the nodes, in the log; `store` is a node's address or the SRV record. */
export function logMemcachedEvent(logger: Logger, outages: OutageLog, event: MemcachedEvent): void {
  const { kind, store, ...fields } = event;
  const failed = (what: string, failing: string, ended: string): void => {
    outages.failed(`${what} ${store}`, { level: 'warn', failing, ended }, fields);
  };
  const back = `memcached at ${store} is back`;
  switch (kind) {
    case 'connected':
      outages.worked(`connection ${store}`);
      logger.info(`connected to memcached at ${store}`, fields);
      return;
    case 'disconnected':
      failed('connection', `lost memcached at ${store}, connecting again`, back);
      return;
    case 'unreachable':
      failed('connection', `cannot reach memcached at ${store}, trying again`, back);
      return;
    case 'resolved':
      outages.worked(`nodes ${store}`);
      return;
    case 'nodes':
      logger.info(`the memcached nodes of ${store} have changed`, fields);
      return;
    case 'unresolved':
      failed(
        'nodes',
        `cannot resolve the memcached nodes of ${store}, trying again`,
        `the memcached nodes of ${store} are resolved again`,
      );
      return;
    case 'added-again':
      outages.worked(`additions ${store}`);
      return;
    case 'not-added':
      failed(
        'additions',
        `hits were answered and could not be added at memcached ${store}`,
        `hits are added at memcached ${store} again`,
      );
  }
}
