import type { MemcachedEvent } from '../../counters/memcached/options';
import type { RedisEvent } from '../../counters/redis/options';
import type { Logger } from '../../platform/logger';
import type { OutageLog } from '../outage-log';

type ToText = (store: string) => string;

/** An event that is logged whenever it occurs, and the outages that it ends. */
interface Notice {
  readonly level: 'info' | 'warn';
  readonly text: ToText;
  readonly ends?: readonly string[];
}

/** An event that only ends outages. */
interface Recovery {
  readonly ends: readonly string[];
}

/** An event of something that is removed, and its outages. */
interface Parting {
  readonly parts: readonly string[];
  /** Logged when there was an outage. */
  readonly text: ToText;
  /** Outages that end without a report. */
  readonly silently?: readonly string[];
}

/** An event of something that fails repeatedly. */
interface Failing {
  readonly outage: string;
  readonly failing: ToText;
  readonly ended: ToText;
  readonly isEachLogged?: boolean;
}

const connection = (failing: ToText, ended: ToText) => ({ outage: 'connection', failing, ended });

const redisIsBack: ToText = (store) => `the store at ${store} is back`;

const REDIS: Readonly<Record<RedisEvent['kind'], Notice | Recovery | Parting | Failing>> = {
  connected: {
    level: 'info',
    text: (store) => `connected to the store at ${store}`,
    ends: ['connection'],
  },
  disconnected: connection((store) => `lost the store at ${store}, connecting again`, redisIsBack),
  unreachable: connection(
    (store) => `cannot reach the store at ${store}, connecting again`,
    redisIsBack,
  ),
  'pool-not-grown': {
    level: 'warn',
    text: (store) => `cannot open another connection to the store at ${store}`,
  },
  'scripts-refused': {
    outage: 'scripts',
    failing: (store) => `the store at ${store} does not accept scripts, using plain commands`,
    ended: (store) => `the store at ${store} accepts scripts again`,
  },
  'scripts-taken': { ends: ['scripts'] },
  'clock-differs': {
    outage: 'clock',
    failing: (store) =>
      `the clocks of this machine and of the store at ${store} differ: windows end at the wrong time`,
    ended: (store) => `the clocks of this machine and of the store at ${store} agree again`,
  },
  'clock-agrees': { ends: ['clock'] },
  misplaced: {
    outage: 'kind',
    failing: (store) => `the store at ${store} is not the kind of store that the settings name`,
    ended: (store) => `the store at ${store} is the kind of store that the settings name`,
  },
  placed: { ends: ['kind'] },
  'scripts-needed': {
    level: 'warn',
    text: (store) =>
      `rules with an algorithm or charge_denied fail: the store at ${store} does not accept scripts`,
  },
  'expire-refused': {
    level: 'warn',
    text: (store) =>
      `the Redis user may not run EXPIRE at ${store}: new counters never expire, and calls that create one are counted and fail`,
  },
  'hold-back-not-atomic': {
    level: 'warn',
    text: (store) => `STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT is not atomic at ${store}`,
  },
  'master-changed': { level: 'warn', text: (store) => `the sentinels name the ${store}` },
  'sentinel-failed': {
    outage: 'sentinel',
    failing: (store) => `the sentinel ${store} does not name the master`,
    ended: (store) => `the sentinel ${store} names the master again`,
  },
  'sentinel-works': { ends: ['sentinel'] },
  'switch-unheard': {
    level: 'warn',
    text: (store) =>
      `the sentinel ${store} does not let this service subscribe: a failover is noticed by polling, twice a second`,
  },
  'slots-changed': { level: 'info', text: (store) => `loaded the slot map of ${store}` },
  'slots-unknown': {
    outage: 'slots',
    failing: (store) => `no node of ${store} returned the slot map, trying again`,
    ended: (store) => `the slot map of ${store} is available again`,
  },
  'slots-known': { ends: ['slots'] },
  'redirects-astray': {
    outage: 'redirects',
    failing: (store) => `nodes of ${store} redirect to addresses that do not belong to it`,
    ended: (store) => `no node of ${store} redirects to an address that does not belong to it`,
  },
  'redirects-followed': { ends: ['redirects'] },
  left: {
    parts: ['connection', 'scripts', 'breaker Redis at'],
    silently: ['clock'],
    text: (store) => `the store at ${store} was unreachable and is no longer in use`,
  },
  'forget-refused': {
    level: 'warn',
    text: (store) =>
      `the store at ${store} refuses messages between local caches: what one instance resets or refunds reaches the others only when the window ends`,
  },
};

const memcachedIsBack: ToText = (store) => `memcached at ${store} is back`;

const MEMCACHED: Readonly<Record<MemcachedEvent['kind'], Notice | Recovery | Parting | Failing>> = {
  connected: {
    level: 'info',
    text: (store) => `connected to memcached at ${store}`,
    ends: ['connection'],
  },
  disconnected: connection(
    (store) => `lost memcached at ${store}, connecting again`,
    memcachedIsBack,
  ),
  unreachable: connection(
    (store) => `cannot reach memcached at ${store}, trying again`,
    memcachedIsBack,
  ),
  nodes: {
    level: 'info',
    text: (store) => `the memcached nodes of ${store} have changed`,
  },
  left: {
    parts: ['connection', 'additions'],
    text: (store) => `memcached at ${store} was failing and is no longer in use`,
  },
  resolved: { ends: ['nodes'] },
  'added-again': { ends: ['additions'] },
  unresolved: {
    outage: 'nodes',
    failing: (store) => `cannot resolve the memcached nodes of ${store}, trying again`,
    ended: (store) => `the memcached nodes of ${store} are resolved again`,
  },
  'not-added': {
    outage: 'additions',
    failing: (store) => `hits were answered but could not be added to memcached ${store}`,
    ended: (store) => `hits are added to memcached ${store} again`,
    isEachLogged: true,
  },
};

/** Logs the events of a Redis store; `store` is its address, reasons contain no credential. */
export function logRedisEvent(logger: Logger, outages: OutageLog, event: RedisEvent): void {
  const { kind, ...about } = event;
  if (event.kind !== 'misplaced') {
    logEvent(REDIS[kind], logger, outages, about);
    return;
  }
  const { store, reason, isUsed } = event;
  // Otherwise it is unreachable, which is logged with the same reason.
  if (isUsed) logEvent(REDIS.misplaced, logger, outages, { store, reason });
}

/** Logs the events of memcached nodes; `store` is a node's address or the SRV record. */
export function logMemcachedEvent(logger: Logger, outages: OutageLog, event: MemcachedEvent): void {
  const { kind, ...about } = event;
  logEvent(MEMCACHED[kind], logger, outages, about);
}

function logEvent(
  entry: Notice | Recovery | Parting | Failing,
  logger: Logger,
  outages: OutageLog,
  {
    store,
    ...fields
  }: { readonly store: string; readonly reason?: string; readonly hits?: number },
): void {
  if ('parts' in entry) {
    for (const part of entry.silently ?? []) outages.removed(`${part} ${store}`);
    const ended = entry.parts.filter((part) => outages.removed(`${part} ${store}`));
    if (ended.length > 0) logger.warn(entry.text(store), fields);
    return;
  }
  if ('outage' in entry) {
    const { outage, isEachLogged = false } = entry;
    const [failing, ended] = [entry.failing(store), entry.ended(store)];
    const lines = { level: 'warn', failing, ended, isEachLogged } as const;
    outages.failed(`${outage} ${store}`, lines, fields, fields.hits);
    return;
  }
  for (const outage of entry.ends ?? []) outages.succeeded(`${outage} ${store}`);
  if ('text' in entry) logger[entry.level](entry.text(store), fields);
}

const AWAY: ReadonlySet<string> = new Set(['disconnected', 'unreachable', 'unresolved']);
const BACK: ReadonlySet<string> = new Set(['connected', 'resolved', 'left']);

/** Remembers the last server that was lost or could not be reached, until it is connected. */
export function createLastFailure() {
  let last: { readonly store: string; readonly reason: string } | undefined;
  return {
    note(event: RedisEvent | MemcachedEvent): void {
      const { kind, store } = event;
      if (AWAY.has(kind) && 'reason' in event) last = { store, reason: event.reason };
      else if (BACK.has(kind) && store === last?.store) last = undefined;
    },
    whyAway: () => (last === undefined ? undefined : `${last.store}: ${last.reason}`),
  };
}
