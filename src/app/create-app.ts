import { setTimeout as delay } from 'node:timers/promises';
import { lastValueFrom, map, merge, type Observable } from 'rxjs';
import {
  createSnapshot,
  createStopSignal,
  firstTrueOrTimeout,
  type HealthStatus,
  type Snapshot,
} from '../../streams';
import { hasRead, type LoadResult } from '../config/load-result';
import type { Clock, Random } from '../core/ports';
import type { Rules } from '../core/rules/rules';
import { createMemoryCounters } from '../counters/memory/create-memory-counters';
import { addressText } from '../platform/listen-address';
import type { Logger } from '../platform/logger/logger';
import type { Settings } from '../settings/settings';
import { createLiveView } from '../stats/live/create-live-view';
import type { Registry } from '../stats/registry';
import type { Tracing } from '../tracing/create-tracing';
import type { CounterStore } from './choose-counters';
import { chooseSink } from './choose-sink';
import { createConnectionLimits } from './connection-limits';
import { createTransports } from './create-transports';
import { toDecisionOptions } from './decision-options';
import { answerQuestions } from './decisions';
import { followRules } from './follow-rules';
import { healthComponents, healthSignals } from './health-signals';
import type { Lifecycle } from './lifecycle';
import { createLiveSource } from './live-source';
import type { OutageLog } from './outage-log';
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
}

/** Where the service listens, as `host:port` or `unix:path`. */
export interface Addresses {
  readonly grpc: string;
  readonly http: string;
  readonly debug: string;
}

export interface App {
  /** Everything that runs; settles when all of it has ended, rejects when a part of it gave up. */
  readonly done: Promise<void>;
  /** Opens the ports; rejects when one of them cannot be had. */
  listen(): Promise<Addresses>;
  /** What the rules are now; undefined before the first. */
  readonly rules: Snapshot<Rules | undefined>;
  /** Health says no, for DRAIN_DELAY calls are still served, what is in flight is answered, then everything ends. Safe to call twice. */
  stop(): Promise<void>;
}

/**
 * Rules and a store that are there are in use before the first question. What is away delays the ports by
 * this and no longer: health answers from the first second.
 */
const FIRST_WAIT_MS = 300;

/** Least and most time that listeners give to what is in flight when the service stops. */
const MIN_DRAIN_MS = 5_000;
const MAX_DRAIN_MS = 20_000;

/** How long the last traces may take when the service stops. */
const LAST_TRACES_MS = 1_000;

/** A store that hangs answers by its time-out: the callers that wait for it shall still hear of it. */
function drainMs({ store }: Settings): number {
  return Math.min(Math.max((store?.timeoutMs ?? 0) + 1_000, MIN_DRAIN_MS), MAX_DRAIN_MS);
}

/** THE composition root: every part of the service, put together and running, its ports still closed. */
export function createApp(settings: Settings, deps: AppDeps): App {
  const { registry, store, clock, monotonicMs, random, logger, outages, tracing } = deps;
  const rules = createSnapshot<Rules | undefined>(undefined);
  const rulesRead = createSnapshot(settings.configuration.forceStartWithoutInitialConfig);
  const lifecycle = createSnapshot<Lifecycle>('starting');
  const health = createSnapshot<HealthStatus<string>>({ serving: false, down: ['start'] });
  const limits = createConnectionLimits(settings.bounds, registry);
  const connected = createSnapshot(false);
  const ending = createStopSignal();
  const sink = chooseSink(settings.statistics, { registry, logger, rules, limits });
  const live = createLiveView(
    { rules, registry, clock, monotonicMs, random },
    toDecisionOptions(settings),
  );
  const components = healthComponents(store.connections);
  const troubles = createTroubles({ outages, rules, store, components, monotonicMs });
  const transports = createTransports(settings, {
    ...deps,
    limits,
    health,
    components,
    rules,
    live: createLiveSource({ live, health, store, connected, troubles, clock }),
    tracer: tracing?.tracer,
  });
  // Its statistics are none of those of BACKEND_TYPE=memory.
  const localCounters = createMemoryCounters({ clock }, settings.memory);

  const decisions$ = answerQuestions(transports.questions$, settings, {
    ...deps,
    rules,
    localCounters,
    live,
  });
  const rules$ = followRules(deps.loads$, { rules, statistics: registry, logger, outages }).pipe(
    map((load) => {
      troubles.loaded(load);
      if (hasRead(load) && !rulesRead.current) rulesRead.set(true);
    }),
  );
  const health$ = healthSignals(
    {
      stores: store.connections,
      rules$: rules.changes$,
      rulesRead$: rulesRead.changes$,
      lifecycle$: lifecycle.changes$,
    },
    settings.health,
  ).pipe(
    map((status) => {
      health.set(status);
      troubles.checked(status);
    }),
  );
  const connected$ = store.connected$.pipe(
    map((isConnected) => {
      connected.set(isConnected);
      troubles.connected(isConnected);
    }),
  );
  const untilEnd$ = merge(health$, connected$, rules$).pipe(ending.until());

  // The reports of outages first: they miss nothing.
  const rest = toEnd(merge(outages.run$, untilEnd$, store.run$, sink.run$, transports.run$));
  const decided = toEnd(decisions$);
  const done = Promise.all([decided, rest]).then(() => undefined);

  const stop = async (): Promise<void> => {
    lifecycle.set('draining');
    await delay(settings.health.drainDelayMs);
    await transports.close(drainMs(settings));
    await decided;
    await Promise.all([store.counters.close(), localCounters.close()]);
    ending.stop();
    outages.close();
    health.close();
    sink.close();
    await tracing?.close(LAST_TRACES_MS);
    await done;
    lifecycle.set('stopped');
  };

  let stopped: Promise<void> | undefined;
  return {
    done,
    rules,
    async listen() {
      const firsts = [rulesRead.changes$, store.connected$];
      await Promise.all(firsts.map((is$) => toEnd(firstTrueOrTimeout(is$, FIRST_WAIT_MS))));
      const [grpc, http, debug] = await transports.listen();
      if (lifecycle.current === 'starting') lifecycle.set('serving');
      return { grpc: addressText(grpc), http: addressText(http), debug: addressText(debug) };
    },
    stop: () => (stopped ??= stop()),
  };
}

/** Runs a stream for what it does; settles when it ends. */
function toEnd(stream$: Observable<unknown>): Promise<unknown> {
  return lastValueFrom(stream$, { defaultValue: undefined });
}
