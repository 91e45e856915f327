import { lastValueFrom, map, merge, type Observable } from 'rxjs';
import {
  batchedQuestions,
  createSnapshot,
  createStopSignal,
  trueWithin,
  turnWindow,
  type HealthStatus,
} from '../../streams';
import type { LoadResult } from '../config/load-result';
import type { Clock, Random } from '../core/ports';
import type { Rules } from '../core/rules/rules';
import { createMemoryCounters } from '../counters/memory/create-memory-counters';
import { createDecideBatch } from '../decisions/decide-batch';
import { ByteBudget } from '../platform/byte-budget';
import { addressText } from '../platform/listen-address';
import type { Logger } from '../platform/logger/logger';
import type { Settings } from '../settings/settings';
import { createRecordTally } from '../stats/record-tally';
import { createLiveView } from '../stats/live/create-live-view';
import type { Registry } from '../stats/registry';
import type { Tracing } from '../tracing/create-tracing';
import type { CounterStore } from './choose-counters';
import { chooseSink } from './choose-sink';
import { createStoreErrorLog } from './create-store-error-log';
import { createTransports } from './create-transports';
import { gatheringMs } from './gathering-window';
import { toDecisionOptions } from './decision-options';
import { followRules } from './follow-rules';
import { healthSignals } from './health-signals';
import { createLiveSource } from './live-source';

/** What the app needs from outside: everything that a test replaces. */
export interface AppDeps {
  readonly registry: Registry;
  readonly store: CounterStore;
  readonly loads$: Observable<LoadResult<Rules>>;
  readonly clock: Clock;
  readonly monotonicMs: () => number;
  readonly random: Random;
  readonly logger: Logger;
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
  /** Health says no, what is in flight is answered, then everything ends. Safe to call twice. */
  stop(): Promise<void>;
}

/** Requests of one batch; more only make the answers of the first wait longer. */
const MAX_BATCH = 4_096;

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
  const { registry, store, clock, monotonicMs, random, logger, tracing } = deps;
  const rules = createSnapshot<Rules | undefined>(undefined);
  const staying = createSnapshot(true);
  const started = createSnapshot(settings.configuration.forceStartWithoutInitialConfig);
  const health = createSnapshot<HealthStatus<string>>({ serving: false, down: [] });
  const rulesSignal = createStopSignal();
  const { maxHeldBytes, maxConnections } = settings.bounds;
  const budget = new ByteBudget(maxHeldBytes, () => {
    registry.count('ratelimit.connections.ended_unread', 1);
  });
  registry.gauge('ratelimit.connections.held_bytes', () => budget.heldBytes);
  const limits = { budget, maxConnections };
  const sink = chooseSink(settings.statistics, { registry, logger, rules, limits });
  const options = toDecisionOptions(settings);
  const live = createLiveView({ rules, registry, clock, monotonicMs, random }, options);
  const connected = createSnapshot(false);
  const transports = createTransports(settings, {
    limits,
    health,
    rules,
    registry,
    live: createLiveSource({ live, health, store, connected, clock }),
    clock,
    monotonicMs,
    random,
    logger,
    tracer: tracing?.tracer,
  });

  // Takes the place of a store that is away; its statistics are none of those of BACKEND_TYPE=memory.
  const localCounters = createMemoryCounters({ clock }, settings.memory);
  const decideBatch = createDecideBatch(
    {
      rules,
      counters: live.watchCounters(store.counters, 'store'),
      localCounters: live.watchCounters(localCounters, 'local'),
      clock,
      random,
      tracer: tracing?.tracer,
      onStoreError: createStoreErrorLog({ logger, monotonicMs }),
      onFault: (error) => {
        logger.error('a batch of decisions failed', { error });
      },
    },
    options,
  );
  const decisions$ = transports.questions$.pipe(
    batchedQuestions({
      until: turnWindow(gatheringMs(settings), monotonicMs),
      maxSize: MAX_BATCH,
      answer: live.watchDecisions(decideBatch),
    }),
    map(createRecordTally(registry)),
  );

  const rules$ = followRules(deps.loads$, { rules, statistics: registry, logger }).pipe(
    map(() => {
      if (!started.current) started.set(true);
    }),
    rulesSignal.until(),
  );
  const health$ = healthSignals(
    {
      stores: store.connections,
      rules$: rules.changes$,
      started$: started.changes$,
      staying$: staying.changes$,
    },
    settings.health,
  ).pipe(
    map((status) => {
      health.set(status);
    }),
    rulesSignal.until(),
  );

  const connected$ = store.connected$.pipe(
    map((isConnected) => {
      connected.set(isConnected);
    }),
    rulesSignal.until(),
  );

  const decided = toEnd(decisions$);
  const rest = toEnd(merge(health$, connected$, rules$, store.run$, sink.run$, transports.run$));
  const done = Promise.all([decided, rest]).then(() => undefined);

  const stop = async (): Promise<void> => {
    staying.set(false);
    await transports.close(drainMs(settings));
    await decided;
    await Promise.all([store.counters.close(), localCounters.close()]);
    rulesSignal.stop();
    health.close();
    sink.close();
    await tracing?.close(LAST_TRACES_MS);
    await done;
  };

  let stopped: Promise<void> | undefined;
  return {
    done,
    async listen() {
      const firsts = [started.changes$, store.connected$];
      await Promise.all(firsts.map((is$) => toEnd(trueWithin(is$, FIRST_WAIT_MS))));
      const [grpc, http, debug] = await transports.listen();
      return { grpc: addressText(grpc), http: addressText(http), debug: addressText(debug) };
    },
    stop: () => (stopped ??= stop()),
  };
}

/** Runs a stream for what it does; settles when it ends. */
function toEnd(stream$: Observable<unknown>): Promise<unknown> {
  return lastValueFrom(stream$, { defaultValue: undefined });
}
