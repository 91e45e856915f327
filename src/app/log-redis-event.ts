import type { RedisEvent } from '../counters/redis/options';
import type { Logger } from '../platform/logger/logger';
import type { OutageLog } from './outage-log';

type Level = 'info' | 'warn';

/** What happens to the store, in the log; `store` is its address, reasons hold no credential. */
export function logRedisEvent(logger: Logger, outages: OutageLog, event: RedisEvent): void {
  const { kind, store, ...fields } = event;
  const log = (level: Level, text: string): void => {
    logger[level](text, fields);
  };
  const failed = (what: string, failing: string, ended: string): void => {
    outages.failed(`${what} ${store}`, { level: 'warn', failing, ended }, fields);
  };
  const back = `the store at ${store} is back`;
  switch (kind) {
    case 'connected':
      outages.worked(`connection ${store}`);
      log('info', `connected to the store at ${store}`);
      return;
    case 'disconnected':
      failed('connection', `lost the store at ${store}, connecting again`, back);
      return;
    case 'unreachable':
      failed('connection', `cannot reach the store at ${store}, connecting again`, back);
      return;
    case 'sentinel-failed':
      failed(
        'sentinel',
        `the sentinel ${store} does not name the master`,
        `the sentinel ${store} names the master again`,
      );
      return;
    case 'sentinel-works':
      outages.worked(`sentinel ${store}`);
      return;
    case 'slots-unknown':
      failed(
        'slots',
        `no node of ${store} says how slots are placed, asking again`,
        `the nodes of ${store} say again how slots are placed`,
      );
      return;
    case 'slots-known':
      outages.worked(`slots ${store}`);
      return;
    case 'slots-changed':
      log('info', `the slots of ${store} are placed`);
      return;
    case 'master-changed':
      log('warn', `the sentinels name the ${store}`);
      return;
    case 'pool-not-grown':
      log('warn', `cannot open another connection to the store at ${store}`);
      return;
    case 'scripts-refused':
      log('warn', `the store at ${store} takes no scripts, using plain commands`);
      return;
    case 'hold-back-not-atomic':
      log('warn', `STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT is not atomic at ${store}`);
  }
}
