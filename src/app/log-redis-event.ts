import type { RedisEvent } from '../counters/redis/options';
import type { Logger } from '../platform/logger/logger';

type Line = readonly [level: 'info' | 'warn', text: (store: string) => string];

const LINES: Readonly<Record<RedisEvent['kind'], Line>> = {
  connected: ['info', (store) => `connected to the store at ${store}`],
  disconnected: ['warn', (store) => `lost the store at ${store}, connecting again`],
  unreachable: ['warn', (store) => `cannot reach the store at ${store}, trying again`],
  'pool-not-grown': ['warn', (store) => `cannot open another connection to the store at ${store}`],
  'scripts-refused': [
    'warn',
    (store) => `the store at ${store} takes no scripts, using plain commands`,
  ],
  'hold-back-not-atomic': [
    'warn',
    (store) => `STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT is not atomic at ${store}`,
  ],
  'master-changed': ['warn', (store) => `the sentinels name the ${store}`],
  'sentinel-failed': ['warn', (store) => `the sentinel ${store} does not name the master`],
  'slots-changed': ['info', (store) => `the slots of ${store} are placed`],
  'slots-unknown': [
    'warn',
    (store) => `no node of ${store} says how slots are placed, asking again`,
  ],
};

/** What happens to the store, in the log; `store` is its address, reasons hold no credential. */
export function logRedisEvent(logger: Logger, event: RedisEvent): void {
  const { kind, store, ...fields } = event;
  const [level, text] = LINES[kind];
  logger[level](text(store), fields);
}
