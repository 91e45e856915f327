import type { RedisEvent } from '../counters/redis/options';
import type { Logger } from '../platform/logger/logger';
import type { OutageLog } from './outage-log';

type Line = readonly [level: 'info' | 'warn', text: (store: string) => string];

/** What neither begins nor ends an outage. */
type PlainKind =
  | 'slots-changed'
  | 'master-changed'
  | 'pool-not-grown'
  | 'scripts-refused'
  | 'hold-back-not-atomic';

const LINES: Readonly<Record<PlainKind, Line>> = {
  'slots-changed': ['info', (store) => `the slots of ${store} are placed`],
  'master-changed': ['warn', (store) => `the sentinels name the ${store}`],
  'pool-not-grown': ['warn', (store) => `cannot open another connection to the store at ${store}`],
  'scripts-refused': [
    'warn',
    (store) => `the store at ${store} takes no scripts, using plain commands`,
  ],
  'hold-back-not-atomic': [
    'warn',
    (store) => `STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT is not atomic at ${store}`,
  ],
};

/** What happens to the store, in the log; `store` is its address, reasons hold no credential. */
export function logRedisEvent(logger: Logger, outages: OutageLog, event: RedisEvent): void {
  const { kind, store, ...fields } = event;
  const failed = (what: string, failing: string, ended: string): void => {
    outages.failed(`${what} ${store}`, { level: 'warn', failing, ended }, fields);
  };
  const back = `the store at ${store} is back`;
  switch (kind) {
    case 'connected':
      outages.worked(`connection ${store}`);
      logger.info(`connected to the store at ${store}`, fields);
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
    default: {
      const [level, text] = LINES[kind];
      logger[level](text(store), fields);
    }
  }
}
