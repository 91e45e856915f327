import { EMPTY, merge } from 'rxjs';
import { turnWindow } from '../../../streams';
import { settled, StoreError } from '../../core/errors';
import type { CounterState, Limiter } from '../../core/kinds/kind';
import { isRecord } from '../../core/kinds/limiter';
import type { Clock, CounterReader, CounterReading, ListOpen, Statistics } from '../../core/ports';
import { withCircuitBreaker } from '../../counters/circuit-breaker/circuit-breaker';
import { noteVersions, claimText } from '../../counters/redis/notes';
import { unread } from '../../counters/count';
import type * as RedisModule from '../../counters/redis/create-redis-counters';
import type {
  RedisCounters,
  RedisCountersDeps,
  RedisCountersOptions,
  RedisEvent,
} from '../../counters/redis/options';
import type { TypeSetting } from '../../counters/redis/wrong-kind';
import type { ReadFields } from '../../counters/limits-from/create-limits-from';
import type { PublishInvalidation } from '../../counters/with-over-limit-cache';
import { createPipelineWindow } from '../../counters/pipeline-window';
import type { Logger } from '../../platform/logger';
import { type Settings, restOfWindowMs } from '../../settings/settings';
import type { StoreSettings } from '../../settings/kvstore';
import type { StoreBackend } from './backend';
import type { ReadableServerChain } from './chain';
import { createBreakers, type BreakersDeps } from './breakers';
import { logRedisEvent, createLastFailure } from './log-store-event';
import { withStoreTime } from '../../stats/store-time';
import { byName, describeRedis, STORE } from './describe-store';

interface RedisStoreDeps extends RedisCountersDeps, BreakersDeps {
  readonly clock: Clock;
  readonly statistics: Statistics;
  readonly logger: Logger;
}

interface RedisStoreNames {
  /** Its name in the timer of the store. */
  readonly name: string;
  /** The prefix of all its other statistics. */
  readonly prefix: string;
  readonly typeSetting: TypeSetting;
}

/** Most services use one store, and load no other. */
const lazyRedis = () => require('../../counters/redis/create-redis-counters') as typeof RedisModule;

/** A backend whose counters can be read without creating them. */
export interface RedisBackend extends StoreBackend {
  readonly servers: ReadableServerChain;
  readonly readFields: ReadFields;
  readonly listOpen: ListOpen;
}

/** A store in Redis. In a cluster, the other nodes are called while one hangs. */
export function openRedisStore(
  store: StoreSettings,
  { name, prefix, typeSetting }: RedisStoreNames,
  settings: Settings,
  deps: RedisStoreDeps,
): RedisBackend {
  const { createRedisCounters, createRedisWriter, listOpen } = lazyRedis();
  const last = createLastFailure();
  let advice: string | undefined;
  const onEvent = (event: RedisEvent): void => {
    last.note(event);
    if (event.kind === 'misplaced') advice = event.advice;
    else if (event.kind === 'placed') advice = undefined;
    if (event.kind === 'left') breakers.forget(`Redis at ${event.store}`);
    logRedisEvent(deps.logger, deps.outages, event);
  };
  const options = { ...toRedisOptions(store, prefix), typeSetting };
  const isCluster = store.address.kind === 'cluster';
  const breakers = createBreakers(prefix, deps);
  const guardNode = (node: string) => breakers.breakerOf(`Redis at ${node}`).call;
  const client = createRedisCounters(
    {
      ...deps,
      onEvent,
      onForget: store.cacheInvalidation ? deps.onForget : undefined,
      ...(isCluster ? { guardNode } : {}),
    },
    { ...options, forgetChannel: `${settings.decisions.keyPrefix}weir:forget` },
  );
  const description = describeRedis(store);
  const breaker = isCluster ? undefined : breakers.breakerOf(description);
  const windowMs = restOfWindowMs(store, settings);
  const window =
    windowMs > 0 ? createPipelineWindow(turnWindow(windowMs, deps.monotonicMs)) : undefined;
  const { connected$, lacksScripts } = client;
  return {
    servers: {
      breaker: breaker && ((next) => withCircuitBreaker(next, breaker)),
      pipelineWindow: window?.before,
      timer: (next) => withStoreTime(next, name, deps),
      client,
    },
    closeGauges: breakers.close,
    reader: redisReader(client),
    writer: createRedisWriter(client),
    listOver: undefined,
    listOpen: (place, most) => listOpen(client, place, most),
    publishInvalidation: publishPlaces(client.publishInvalidation),
    readFields: ({ key }, fields) => client.readFields(key, fields),
    claim: (claim) => claimText(client, claim),
    noteVersions: (note) => noteVersions(client, note),
    scriptStores: [{ prefix, lacksScripts, counts: 'all' }],
    connected$,
    connections: new Map([[STORE, connected$]]),
    run$: merge(client.run$, window?.run$ ?? EMPTY),
    whyAway: last.whyAway,
    misplaced: () => byName([[STORE, advice]]),
    hanging: () => (breakers.areOpen() ? [STORE] : []),
    description,
  };
}

function publishPlaces(
  publish: RedisCounters['publishInvalidation'],
): PublishInvalidation | undefined {
  return (
    publish &&
    ((places, isReset = false) => {
      const endsLeases = isReset && places.some(({ rule }) => rule.isLeased);
      publish(
        places.map(({ key }) => key),
        endsLeases,
      );
    })
  );
}

function redisReader(counters: Pick<RedisCounters, 'peek' | 'send'>): CounterReader {
  return {
    async read(places) {
      const readings = await counters.peek([...new Set(places.map(({ key }) => key))]);
      return Promise.all(
        places.map(async ({ key, rule }) => {
          const reading = readings.get(key) as CounterReading;
          const { limiter } = rule;
          return isRecord(limiter) ? readRecordOf(counters, key, limiter, reading) : reading;
        }),
      );
    },
  };
}

/** A record is read by itself. */
async function readRecordOf(
  counters: Pick<RedisCounters, 'send'>,
  key: string,
  limiter: Limiter<CounterState>,
  { store }: CounterReading,
): Promise<CounterReading> {
  const read = await settled(() => lazyRedis().readOwnForm(counters, key, limiter));
  return read instanceof StoreError ? unread(store, read) : { ...read, store };
}

function toRedisOptions(store: StoreSettings, statisticsPrefix: string): RedisCountersOptions {
  // As in envoyproxy/ratelimit, KVSTORE_TLS is for sentinels too.
  return { ...store, sentinelTls: store.tls, statisticsPrefix };
}
