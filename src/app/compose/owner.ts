import { setTimeout as delay } from 'node:timers/promises';
import { EMPTY, type Observable } from 'rxjs';
import { createSnapshot } from '../../../streams';
import type { Clock, LimitsFrom } from '../../core/ports';
import type { Rules } from '../../core/rules/rules';
import type { Logger } from '../../platform/logger';
import type { LoadResult } from '../../rule-sources/load-result';
import type { Settings } from '../../settings/settings';
import type { Registry } from '../../stats/registry';
import { createAdmin } from '../admin/create-admin';
import { runAll } from '../actor';
import { createHealthActor } from '../observe/health';
import { createChecksActor } from '../rules/checks';
import { createRulesActor } from '../rules/rules';
import { createStatisticsActor } from '../observe/statistics';
import type { StoreView } from '../store/backend';
import type { OperatorStore } from '../store/store';
import { createDebugPort, createLiveSource } from './debug-port';
import type { Deciders, OwnerPorts } from './decider';
import type { Lifecycle } from '../process/run-process';
import { createConnectionLimits, listenAll, untilFirst } from '../process/open-ports';
import type { OutageLog } from '../outage-log';
import { ruleSourceKind } from '../rules/rule-source';
import { timeZoneDataText, watchTimeZones } from '../rules/time-zones';
import type { SecretKeys } from '../secrets/create-secret-keys';
import { openKeyCheck } from '../secrets/watch-secret-keys';
import { createCertificates } from '../tls/certificates';
import { toDecisionOptions } from './decisions';
import { createTroubles } from '../observe/troubles';

export interface OwnerDeps {
  readonly registry: Registry;
  readonly store: StoreView;
  /** The same counters, for the operator API and the check of keys; undefined: both are off. */
  readonly operatorStore: (OperatorStore & Pick<StoreView, 'connected$'>) | undefined;
  /** Undefined: no key of the rules is secret. */
  readonly secretKeys?: SecretKeys | undefined;
  readonly loads$: Observable<LoadResult<Rules>>;
  /** Limits of values from hashes, for explanations; undefined: ADMIN_API=off. */
  readonly limitsFrom: LimitsFrom | undefined;
  /** Whether the deciders can be called; undefined: they live and die with the owner. */
  readonly workers$?: Observable<boolean> | undefined;
  /** Number of deciding processes; default: this one. */
  readonly workerCount?: number | undefined;
  readonly clock: Clock;
  readonly monotonicMs: () => number;
  readonly logger: Logger;
  readonly outages: OutageLog;
  /** Outages logged by other processes; undefined: there are none. */
  readonly outagesOfWorkers?: OutageLog['open'];
  /** Bytes held by connections of other processes; undefined: there are none. */
  readonly heldByWorkers?: () => number;
}

/** Bounds of the time that listeners give to calls in flight when the service stops. */
const MIN_DRAIN_MS = 5_000;
const MAX_DRAIN_MS = 20_000;

/**
 * The parts that a service has once, however many processes decide: rules and their sources, health, statistics, certificates, the
 * debug port. All of it runs, and so do the deciders; the ports are still closed.
 */
export function createOwner(
  settings: Settings,
  deps: OwnerDeps,
  startDeciders: (ports: OwnerPorts) => Deciders,
) {
  const { registry, store, operatorStore, clock, logger, outages, workerCount = 1 } = deps;
  const lifecycle = createSnapshot<Lifecycle>('starting');
  const limits = createConnectionLimits(settings.bounds, registry);
  const loading = createRulesActor(
    deps.loads$,
    { statistics: registry, logger, outages, clock },
    {
      startsWithoutRules: settings.configuration.forceStartWithoutInitialConfig,
      source: ruleSourceKind(settings),
    },
  );
  const { rules, isRead, version: rulesVersion, whyNoRules } = loading;
  const checking = createChecksActor(settings, { statistics: registry, logger, outages, clock });
  const { checks } = checking;
  const keys = openKeyCheck(settings, { ...deps, rules, statistics: registry });
  const timeZones = watchTimeZones({
    rules,
    statistics: registry,
    outages,
    logger,
    keyPrefix: settings.decisions.keyPrefix,
    noteVersions: operatorStore?.noteVersions,
    connected$: operatorStore?.connected$ ?? EMPTY,
  });
  const health = createHealthActor(
    {
      stores: store.connections,
      connected$: store.connected$,
      rules$: rules.changes$,
      rulesRead$: isRead.changes$,
      workers$: deps.workers$,
      lifecycle$: lifecycle.changes$,
      keysAgree$: keys.agree$,
    },
    settings.health,
  );
  const statistics = createStatisticsActor(settings.statistics, {
    ...deps,
    rules,
    rulesVersion,
    limits,
  });
  const troubles = createTroubles({
    ...deps,
    rules: loading,
    health,
    openOutages: () => [...outages.open(), ...(deps.outagesOfWorkers?.() ?? [])],
  });
  const { tls } = settings.servers.grpc;
  const certificates = tls && createCertificates(tls, { statistics: registry, logger });
  const { status, components } = health;
  const deciders = startDeciders({
    rules,
    whyNoRules,
    checks,
    isRead,
    health: status,
    components,
    certificates,
    limits,
  });
  const { live } = deciders;
  const { api: adminApi } = settings.admin;
  const debug = createDebugPort(settings, {
    ...deps,
    limits,
    rules,
    rulesVersion,
    workerProfiles: deciders.profiles,
    live: createLiveSource({
      live,
      health,
      store,
      troubles,
      clock,
      rulesVersion,
      adminApi,
      timeZoneData: () => timeZoneDataText(rules.current),
    }),
    admin: createAdmin(settings, {
      ...deps,
      rules,
      whyNoRules,
      rulesVersion,
      live,
      workerCount,
      lastLoad: loading.lastLoad,
      store: operatorStore && {
        ...operatorStore,
        description: store.description,
        whyAway: () => store.whyAway(),
      },
      options: { ...toDecisionOptions(settings), limitsFrom: deps.limitsFrom },
    }),
  });
  // The outages first: they must miss no failure.
  const done = runAll([
    outages,
    health,
    loading,
    checking,
    keys,
    timeZones,
    troubles,
    deciders,
    statistics,
    debug,
  ]);

  const stop = async (): Promise<void> => {
    lifecycle.set('draining');
    await delay(settings.health.drainDelayMs);
    const withinMs = drainMs(settings);
    await deciders.closePorts(withinMs);
    await debug.close(withinMs);
    await deciders.finish();
    loading.close();
    checking.close();
    keys.close();
    timeZones.close();
    health.close();
    await Promise.all([statistics.close(), deciders.closeTraces()]);
    outages.close();
    await done;
    lifecycle.set('stopped');
  };

  let stopped: Promise<void> | undefined;
  return {
    /** Settles when all actors have ended, rejects when one of them gave up. */
    done,
    lifecycle,
    /** Undefined before the first successful load. */
    rules,
    /** Opens the ports; rejects with every address that cannot be opened. */
    async listen() {
      await untilFirst(settings, isRead.changes$, [checking.isRead.changes$, store.connected$]);
      const addresses = await listenAll(deciders, debug);
      if (lifecycle.current === 'starting') lifecycle.set('serving');
      return addresses;
    },
    /** Health says no, calls are still served for DRAIN_DELAY, calls in flight are answered, then everything ends. Safe to call twice. */
    stop: () => (stopped ??= stop()),
  };
}

export type App = ReturnType<typeof createOwner>;

/** A store that hangs answers by its time-out: clients that wait for it still get an answer. */
function drainMs({ store }: Settings): number {
  return Math.min(Math.max((store?.timeoutMs ?? 0) + 1_000, MIN_DRAIN_MS), MAX_DRAIN_MS);
}
