import type { RedisEvent } from '../counters/redis/options';
import type { Logger } from '../platform/logger/logger';
import type { OutageLog } from './outage-log';

type Line = readonly [level: 'info' | 'warn', text: (store: string) => string];

const LINES: Readonly<Record<Exclude<RedisEvent['kind'], 'disconnected' | 'unreachable'>, Line>> = {
  connected: ['info', (store) => `connected to the store at ${store}`],
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

const STATE = { disconnected: 'lost', unreachable: 'cannot reach' } as const;

/** What happens to the store, in the log; `store` is its address, reasons hold no credential. */
export function logRedisEvent(logger: Logger, outages: OutageLog, event: RedisEvent): void {
  const { kind, store, ...fields } = event;
  if (kind === 'disconnected' || kind === 'unreachable') {
    const failing = `${STATE[kind]} the store at ${store}, connecting again`;
    const ended = `the store at ${store} is back`;
    outages.failed(`connection ${store}`, { level: 'warn', failing, ended }, fields);
    return;
  }
  if (kind === 'connected') outages.worked(`connection ${store}`);
  const [level, text] = LINES[kind];
  logger[level](text(store), fields);
}
