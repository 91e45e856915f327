import { setTimeout as delay } from 'node:timers/promises';
import type { Observable } from 'rxjs';
import { createSnapshot, firstTrueOrTimeout, type Snapshot } from '../../streams';
import type { LoadResult } from '../rule-sources/load-result';
import type { Clock, Random } from '../core/ports';
import type { Rules } from '../core/rules/rules';
import { createMemoryCounters } from '../counters/memory/create-memory-counters';
import type { Logger } from '../platform/logger/logger';
import type { Settings } from '../settings/settings';
import { createLiveView } from '../stats/dashboard/create-live-view';
import type { Registry } from '../stats/registry';
import type { Tracing } from '../tracing/create-tracing';
import { createAdmin } from './admin/create-admin';
import { runAll, runToCompletion } from './actors/actor';
import { createDecisionReports, createDecisionsActor } from './actors/decisions';
import { createHealthActor } from './actors/health';
import { createRulesActor } from './actors/rules';
import { createStatisticsActor } from './actors/statistics';
import type { CounterStore } from './actors/store';
import {
  createConnectionLimits,
  createDebugPort,
  createTransports,
  listenAll,
  type Addresses,
} from './create-transports';
import { createDecisionLog } from './decision-log';
import type { Lifecycle } from './lifecycle';
import { openLimitsFrom } from './open-limits-from';
import { createLiveSource } from './live-source';
import type { OutageLog } from './outage-log';
import type { SecretKeys } from './secrets/create-secret-keys';
import { watchSecretKeys } from './secrets/watch-secret-keys';
import { createCertificates } from './tls/create-certificates';
import { toDecisionOptions } from './to-options';
import { ruleSourceKind } from './rule-source';
import { createTroubles } from './troubles';

/** What the app needs from outside: everything that a test replaces. */
export interface AppDeps {
  readonly registry: Registry;
  readonly store: CounterStore;
  readonly loads$: Observable<LoadResult<Rules>>;
  readonly clock: Clock;
  readonly monotonicMs: () => number;
  readonly random: Random;
  readonly logger: Logger;
  readonly outages: OutageLog;
  /** Undefined: nothing is traced. */
  readonly tracing?: Tracing | undefined;
  /** Undefined: no key is secret. */
  readonly secretKeys?: SecretKeys;
}

export interface App {
  /** Settles when all actors have ended, rejects when one of them gave up. */
  readonly done: Promise<void>;
  readonly lifecycle: Snapshot<Lifecycle>;
  /** Undefined before the first good load. */
  readonly rules: Snapshot<Rules | undefined>;
  /** Opens the ports; rejects with every address that cannot be opened. */
  readonly listen: () => Promise<Addresses>;
  /** Health says no, for DRAIN_DELAY calls are still served, what is in flight is answered, then everything ends. Safe to call twice. */
  readonly stop: () => Promise<void>;
}

/** How long the ports wait for the first rules and the store; then they open regardless, so that health checks are answered. */
const FIRST_WAIT_MS = 300;

/** Bounds of the time that listeners give to what is in flight when the service stops. */
const MIN_DRAIN_MS = 5_000;
const MAX_DRAIN_MS = 20_000;

/** How long the export of the last traces may take when the service stops. */
const LAST_TRACES_MS = 1_000;

/** THE composition root: all actors of the service, running, the ports still closed. */
export function createApp(settings: Settings, deps: AppDeps): App {
  const { registry, store, clock, logger, outages, tracing } = deps;
  const lifecycle = createSnapshot<Lifecycle>('starting');
  const limits = createConnectionLimits(settings.bounds, registry);

  // What a service has once: rules, health, statistics.
  const loading = createRulesActor(
    deps.loads$,
    { statistics: registry, logger, outages, clock },
    {
      startsWithoutRules: settings.configuration.forceStartWithoutInitialConfig,
      source: ruleSourceKind(settings),
    },
  );
  const { rules } = loading;
  const { secretKeys } = deps;
  const keyWatch =
    secretKeys !== undefined && settings.secrets.keysFile !== undefined
      ? watchSecretKeys({
          ...deps,
          keys: () => secretKeys.tokens.keys,
          keyPrefix: settings.decisions.cacheKeyPrefix,
          claim: store.claim,
          connected$: store.connected$,
          rules,
          statistics: registry,
        })
      : undefined;
  const health = createHealthActor(
    {
      stores: store.connections,
      connected$: store.connected$,
      rules$: rules.changes$,
      rulesRead$: loading.isRead.changes$,
      lifecycle$: lifecycle.changes$,
      keysAgree$: keyWatch?.agrees.changes$,
    },
    settings.health,
  );
  const statistics = createStatisticsActor(settings.statistics, {
    ...deps,
    rules,
    limits,
    rulesVersion: loading.version,
  });
  const troubles = createTroubles({ ...deps, rules: loading, health });
  const { tls } = settings.servers.grpc;
  const certificates = tls && createCertificates(tls, { statistics: registry, logger });

  // What decides: transports, batches, counters, tracing.
  const limitsFrom = openLimitsFrom({ ...deps, statistics: registry });
  const options = { ...toDecisionOptions(settings), limitsFrom };
  const live = createLiveView({ ...deps, rules }, options);
  const transports = createTransports(settings, {
    ...deps,
    limits,
    health: health.status,
    components: health.components,
    certificates,
    tracer: tracing?.tracer,
  });
  // Without statistics: those are of BACKEND_TYPE=memory only.
  const localCounters = createMemoryCounters({ clock }, settings.memory);
  const decisionLog = createDecisionLog(settings.decisionLog, { ...deps, statistics: registry });
  const decisions = createDecisionsActor(transports.questions$, settings, {
    ...deps,
    rules,
    counters: store.counters,
    localCounters,
    limitsFrom,
    tracer: tracing?.tracer,
    log: decisionLog,
    live,
    reports: createDecisionReports(deps),
  });

  const debug = createDebugPort(settings, {
    ...deps,
    limits,
    rules,
    rulesVersion: loading.version,
    live: createLiveSource({
      live,
      health,
      store,
      troubles,
      clock,
      rulesVersion: loading.version,
      adminApi: settings.admin.api,
    }),
    admin: createAdmin(settings, { ...deps, rules, rulesVersion: loading.version, live, options }),
  });
  // The outages first: they miss no failure.
  const done = runAll([
    outages,
    health,
    loading,
    ...(secretKeys === undefined ? [] : [secretKeys]),
    ...(keyWatch === undefined ? [] : [keyWatch]),
    troubles,
    store,
    limitsFrom,
    statistics,
    transports,
    debug,
    decisions,
  ]);

  const stop = async (): Promise<void> => {
    lifecycle.set('draining');
    await delay(settings.health.drainDelayMs);
    const withinMs = drainMs(settings);
    await transports.close(withinMs);
    await debug.close(withinMs);
    await decisions.close();
    await decisionLog?.close();
    limitsFrom.close();
    await Promise.all([store.counters.close(), localCounters.close()]);
    loading.close();
    secretKeys?.close();
    keyWatch?.close();
    health.close();
    await Promise.all([statistics.close(), tracing?.close(LAST_TRACES_MS)]);
    outages.close();
    await done;
    lifecycle.set('stopped');
  };

  let stopped: Promise<void> | undefined;
  return {
    done,
    lifecycle,
    rules,
    async listen() {
      const firsts = [loading.isRead.changes$, store.connected$];
      await Promise.all(
        firsts.map((is$) => runToCompletion(firstTrueOrTimeout(is$, FIRST_WAIT_MS))),
      );
      const addresses = await listenAll(transports, debug);
      if (lifecycle.current === 'starting') lifecycle.set('serving');
      return addresses;
    },
    stop: () => (stopped ??= stop()),
  };
}

/** A store that hangs answers by its time-out: the clients that wait for it still get an answer. */
function drainMs({ store }: Settings): number {
  return Math.min(Math.max((store?.timeoutMs ?? 0) + 1_000, MIN_DRAIN_MS), MAX_DRAIN_MS);
}
