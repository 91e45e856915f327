import { of, type Observable } from 'rxjs';
import type { Clock, Counters, Random, Statistics } from '../core/ports';
import { toAddressText } from '../counters/redis/address';
import { createMemoryCounters } from '../counters/memory/create-memory-counters';
import type * as RedisStore from '../counters/redis/create-redis-counters';
import type { RedisCountersOptions } from '../counters/redis/options';
import type { Logger } from '../platform/logger/logger';
import type { Settings } from '../settings/settings';
import type { StoreSettings } from '../settings/store';
import { logRedisEvent } from './log-redis-event';

/** A counter store, whether it is connected, and what it does by itself. */
export interface CounterStore {
  readonly counters: Counters;
  readonly connected$: Observable<boolean>;
  /** Fails only when the store gave up for good (KVSTORE_STARTUP_MAX_ELAPSED_TIME). */
  readonly run$: Observable<unknown>;
  /** One line for the start: where counters live. */
  readonly description: string;
}

export interface CounterStoreDeps {
  readonly clock: Clock;
  readonly monotonicMs: () => number;
  readonly random: Random;
  readonly statistics: Statistics;
  readonly logger: Logger;
}

const STATISTICS_PREFIX = 'ratelimit.redis_pool';

/** The store that the settings name. */
export function chooseCounters(settings: Settings, deps: CounterStoreDeps): CounterStore {
  const { store, memory } = settings;
  if (store === undefined) {
    const counters = createMemoryCounters(deps, { maxKeys: memory.maxKeys });
    return { counters, connected$: of(true), run$: of(), description: 'memory' };
  }
  const { createRedisCounters } = loadRedis();
  const options = toRedisOptions(store);
  const counters = createRedisCounters(
    {
      ...deps,
      onEvent: (event) => {
        logRedisEvent(deps.logger, event);
      },
    },
    options,
  );
  const { connected$, run$ } = counters;
  return { counters, connected$, run$, description: `Redis at ${toAddressText(options.address)}` };
}

/** Loaded only when it is used: start-up time. */
function loadRedis(): typeof RedisStore {
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- late on purpose
  return require('../counters/redis/create-redis-counters') as typeof RedisStore;
}

function toRedisOptions(store: StoreSettings): RedisCountersOptions {
  const { address, startup } = store;
  if (address.kind !== 'tcp' && address.kind !== 'unix')
    throw new Error(`a store of type ${address.kind} is not built yet`);
  return {
    address,
    auth: store.auth,
    tls: store.tls,
    timeoutMs: store.timeoutMs,
    scripts: store.scripts,
    startupInitialMs: startup.initialIntervalMs,
    startupMaxMs: startup.maxIntervalMs,
    startupMaxElapsedMs: startup.maxElapsedMs,
    statisticsPrefix: STATISTICS_PREFIX,
  };
}
