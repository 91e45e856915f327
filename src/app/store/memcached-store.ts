import type { Statistics } from '../../core/ports';
import { withCircuitBreaker } from '../../counters/circuit-breaker/circuit-breaker';
import type * as MemcachedModule from '../../counters/memcached/create-memcached-counters';
import type { MemcachedCountersDeps, MemcachedEvent } from '../../counters/memcached/options';
import type { Logger } from '../../platform/logger';
import type { MemstoreSettings } from '../../settings/memstore';
import type { StoreBackend } from './backend';
import type { ServerChain } from './chain';
import { createBreakers, type BreakersDeps } from './breakers';
import { logMemcachedEvent, createLastFailure } from './log-store-event';
import { withStoreTime } from '../../stats/store-time';
import { describeMemcached, STORE } from './describe-store';

const STATISTICS_PREFIX = 'ratelimit.memcache';

/** As in envoyproxy/ratelimit; there is no setting for it. */
const TIMEOUT_MS = 500;

interface MemcachedStoreDeps extends MemcachedCountersDeps, BreakersDeps {
  readonly statistics: Statistics;
  readonly logger: Logger;
}

export interface MemcachedBackend extends StoreBackend {
  readonly servers: ServerChain & { readonly client: MemcachedModule.MemcachedCounters };
}

/** Most services use another store, and do not load it. */
const lazyMemcached = () =>
  require('../../counters/memcached/create-memcached-counters') as typeof MemcachedModule;

export function openMemcachedStore(
  memstore: MemstoreSettings,
  deps: MemcachedStoreDeps,
): MemcachedBackend {
  const { createMemcachedCounters } = lazyMemcached();
  const last = createLastFailure();
  const onEvent = (event: MemcachedEvent): void => {
    last.note(event);
    logMemcachedEvent(deps.logger, deps.outages, event);
  };
  const options = { ...memstore, timeoutMs: TIMEOUT_MS };
  const client = createMemcachedCounters({ ...deps, onEvent }, options);
  const description = describeMemcached(memstore.nodes);
  const breakers = createBreakers(STATISTICS_PREFIX, deps);
  const breaker = breakers.breakerOf(description);
  const { connected$, run$ } = client;
  return {
    servers: {
      breaker: (next) => withCircuitBreaker(next, breaker),
      pipelineWindow: undefined,
      timer: (next) => withStoreTime(next, 'memcached', deps),
      client,
    },
    closeGauges: breakers.close,
    reader: { read: (places) => Promise.all(places.map(({ key }) => client.peek(key))) },
    writer: client,
    listOver: undefined,
    listOpen: undefined,
    publishInvalidation: undefined,
    readFields: undefined,
    claim: undefined,
    noteVersions: undefined,
    scriptStores: [],
    connected$,
    connections: new Map([[STORE, connected$]]),
    run$,
    whyAway: last.whyAway,
    misplaced: () => new Map(),
    hanging: () => (breakers.areOpen() ? [STORE] : []),
    description,
  };
}
