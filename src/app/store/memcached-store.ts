import type { Statistics } from '../../core/ports';
import { withCircuitBreaker } from '../../counters/circuit-breaker/circuit-breaker';
import type { MemcachedCountersDeps, MemcachedEvent } from '../../counters/memcached/options';
import type { Logger } from '../../platform/logger';
import type { MemstoreSettings } from '../../settings/memstore';
import { memcachedReader, lazy } from './counter-readers';
import { closeWith, createBreakers, type GuardDeps } from './guard-counters';
import { logMemcachedEvent, createLastFailure } from './log-store-event';
import { withStoreTime } from '../../stats/store-time';
import { describeMemcached, STORE } from './describe-store';

const STATISTICS_PREFIX = 'ratelimit.memcache';

/** As in envoyproxy/ratelimit; there is no setting for it. */
const TIMEOUT_MS = 500;

interface MemcachedStoreDeps extends MemcachedCountersDeps, GuardDeps {
  readonly statistics: Statistics;
  readonly logger: Logger;
}

export function openMemcachedStore(memstore: MemstoreSettings, deps: MemcachedStoreDeps) {
  const { createMemcachedCounters } = lazy.memcached();
  const last = createLastFailure();
  const onEvent = (event: MemcachedEvent): void => {
    last.note(event);
    logMemcachedEvent(deps.logger, deps.outages, event);
  };
  const options = { ...memstore, timeoutMs: TIMEOUT_MS };
  const counters = createMemcachedCounters({ ...deps, onEvent }, options);
  const timed = withStoreTime(counters, 'memcached', deps);
  const description = describeMemcached(memstore.nodes);
  const breakers = createBreakers(STATISTICS_PREFIX, deps);
  const { connected$, run$ } = counters;
  return {
    counters: closeWith(withCircuitBreaker(timed, breakers.breakerOf(description)), breakers),
    reader: memcachedReader(counters),
    writer: counters,
    connected$,
    connections: new Map([[STORE, connected$]]),
    run$,
    whyAway: last.whyAway,
    hanging: () => (breakers.areOpen() ? [STORE] : []),
    description,
  };
}
