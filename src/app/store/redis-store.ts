import { merge, of } from 'rxjs';
import { turnWindow } from '../../../streams';
import type { Clock, CounterPlace, Statistics } from '../../core/ports';
import { withCircuitBreaker } from '../../counters/circuit-breaker/circuit-breaker';
import { noteVersions, type VersionNote, claimText, type Claim } from '../../counters/redis/notes';
import type {
  RedisCountersDeps,
  RedisCountersOptions,
  RedisEvent,
} from '../../counters/redis/options';
import type { TypeSetting } from '../../counters/redis/wrong-kind';
import type { ReadFields } from '../../counters/limits-from/create-limits-from';
import type { PublishInvalidation } from '../../counters/with-over-limit-cache';
import { withPipelineWindow } from '../../counters/with-pipeline-window';
import type { Logger } from '../../platform/logger';
import { type Settings, restOfWindowMs } from '../../settings/settings';
import type { StoreSettings } from '../../settings/store';
import { redisReader, lazy } from './counter-readers';
import { closeWith, createBreakers, type GuardDeps } from './guard-counters';
import { logRedisEvent, createLastFailure } from './log-store-event';
import { withStoreTime } from '../../stats/store-time';
import { describeRedis, STORE } from './describe-store';

interface RedisStoreDeps extends RedisCountersDeps, GuardDeps {
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

export type RedisStore = ReturnType<typeof openRedisStore>;

/** A store in Redis with its breaker; a cluster has one for each node: the others are called while one hangs. */
export function openRedisStore(
  store: StoreSettings,
  { name, prefix, typeSetting }: RedisStoreNames,
  settings: Settings,
  deps: RedisStoreDeps,
) {
  const { createRedisCounters, createRedisWriter, listOpen } = lazy.redis();
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
  const counters = createRedisCounters(
    {
      ...deps,
      onEvent,
      onForget: store.cacheInvalidation ? deps.onForget : undefined,
      ...(isCluster ? { guardNode } : {}),
    },
    { ...options, forgetChannel: `${settings.decisions.cacheKeyPrefix}weir:forget` },
  );
  const timed = withStoreTime(counters, name, deps);
  const description = describeRedis(store);
  const windowMs = restOfWindowMs(store, settings);
  const gathered =
    windowMs > 0
      ? withPipelineWindow(timed, turnWindow(windowMs, deps.monotonicMs))
      : { ...timed, run$: of() };
  const guarded = {
    ...closeWith(
      isCluster ? gathered : withCircuitBreaker(gathered, breakers.breakerOf(description)),
      breakers,
    ),
    read: (keys: readonly string[]) => counters.read(keys),
  };
  const { connected$, publishInvalidation } = counters;
  const publishPlaces: PublishInvalidation | undefined =
    publishInvalidation &&
    ((places, isReset = false) => {
      const endsLeases = isReset && places.some(({ rule }) => rule.isLeased);
      publishInvalidation(
        places.map(({ key }) => key),
        endsLeases,
      );
    });
  const readFields: ReadFields = ({ key }, fields) => counters.readFields(key, fields);
  return {
    counters: guarded,
    reader: redisReader(counters),
    writer: createRedisWriter(counters),
    listOpen: (place: CounterPlace, most: number) => listOpen(counters, place, most),
    publishInvalidation: publishPlaces,
    connected$,
    connections: new Map([[STORE, connected$]]),
    run$: merge(counters.run$, gathered.run$),
    readFields,
    scripts: { prefix, lacksScripts: counters.lacksScripts },
    whyAway: last.whyAway,
    misplaced: () => advice,
    hanging: () => (breakers.areOpen() ? [STORE] : []),
    description,
    claim: (claim: Claim) => claimText(counters, claim),
    noteVersions: (note: VersionNote) => noteVersions(counters, note),
  };
}

function toRedisOptions(store: StoreSettings, statisticsPrefix: string): RedisCountersOptions {
  const { startup, clusterPipelineParallelism: clusterParallelism } = store;
  return {
    ...store,
    // As in envoyproxy/ratelimit, KVSTORE_TLS is for sentinels too.
    sentinelTls: store.tls,
    startupInitialMs: startup.initialIntervalMs,
    startupMaxMs: startup.maxIntervalMs,
    startupMaxElapsedMs: startup.maxElapsedMs,
    clusterParallelism,
    statisticsPrefix,
  };
}
