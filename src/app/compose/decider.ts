import { merge, type Observable } from 'rxjs';
import type { Snapshot } from '../../../streams';
import type { Clock, Random, Statistics } from '../../core/ports';
import type { Rules } from '../../core/rules/rules';
import { createMemoryCounters } from '../../counters/memory/create-memory-counters';
import type { LimitsFromHashes } from '../../counters/limits-from/create-limits-from';
import type { HttpLimits } from '../../platform/http-listener';
import { memoryBounds, readHeapLimit } from '../store/memory-store';
import type { LogLevel } from '../../platform/logger';
import type { CheckSet } from '../../request-maps/check';
import type { Settings } from '../../settings/settings';
import { createLiveView, type LiveView } from '../../stats/dashboard/create-live-view';
import type { Tracing } from '../../tracing/create-tracing';
import type { PortShare } from '../../transport/listener';
import type { WorkerProfiles } from '../../transport/debug/profile-endpoint';
import { type ServiceHealth, createNotCounted } from '../observe/health';
import {
  createDecisionReports,
  createDecisionsActor,
  type ReportsDeps,
  toDecisionOptions,
} from './decisions';
import { createTransports, listenForCalls } from './create-transports';
import { bothLogs, createDebugDecisions } from '../observe/debug-decisions';
import { createDecisionLog, type DecisionLogDeps } from '../observe/decision-log';
import type { CallAddresses } from '../process/open-ports';
import type { Certificates } from '../tls/certificates';
import { isPerSecond } from '../../counters/split';
import type { ScriptStore } from '../store/backend';

/** The owner's ports for deciders: directly in its own process, by messages to others. */
export interface OwnerPorts {
  readonly rules: Snapshot<Rules | undefined>;
  /** What callers read until the first load. */
  readonly whyNoRules: Snapshot<string>;
  /** The checks of CHECK_CONFIG; undefined before the first successful load. */
  readonly checks: Snapshot<CheckSet | undefined>;
  /** Whether the rules were read, right or wrong. */
  readonly isRead: Snapshot<boolean>;
  readonly health: Snapshot<ServiceHealth>;
  /** The names of all health components. */
  readonly components: readonly string[];
  /** Undefined: the gRPC port speaks plain HTTP/2. */
  readonly certificates: Certificates | undefined;
  /** Memory limits for the connections of all ports of this process. */
  readonly limits: HttpLimits;
}

/** The deciders, as the owner sees them. */
export interface Deciders {
  /** Their work. Completes after `finish`, errors when they gave up. */
  readonly run$: Observable<unknown>;
  readonly live: Pick<LiveView, 'start' | 'stop' | 'hot' | 'tree' | 'take'>;
  /** For one decider: its gRPC connections, as one of several on the same port. */
  readonly connections?: PortShare | undefined;
  /** Undefined: they decide in this process. */
  readonly profiles?: WorkerProfiles;
  /** Opens the ports; rejects with every address that cannot be opened. */
  listen(): Promise<CallAddresses>;
  /** Accepts no more calls and answers those in flight; destroys the rest after `withinMs`. */
  closePorts(withinMs: number): Promise<void>;
  /** Ends decisions and counters, once the ports are closed. */
  finish(): Promise<void>;
  /** Exports the last traces. */
  closeTraces(): Promise<void>;
}

export interface DeciderDeps extends ReportsDeps {
  readonly clock: Clock;
  readonly random: Random;
  /** Undefined: nothing is traced. */
  readonly tracing?: Tracing | undefined;
  readonly limitsFrom: LimitsFromHashes;
  /** Opens the destination of the decision log; default: its file. */
  readonly openLog?: DecisionLogDeps['open'];
}

/** Time limit for exporting the last traces when the service stops. */
const LAST_TRACES_MS = 1_000;

/** Levels at which each decision is in the log. */
const DEBUG_LEVELS: ReadonlySet<LogLevel> = new Set<LogLevel>(['debug', 'trace']);

/** The deciding part of this process: transports, batches, counters, tracing. The ports are still closed. */
export function createDecider(settings: Settings, deps: DeciderDeps, ports: OwnerPorts): Deciders {
  const { registry, store, clock, tracing, limitsFrom } = deps;
  const { rules, whyNoRules } = ports;
  const tracer = tracing?.tracer;
  showRulesWithoutScripts(store.scriptStores, { rules, statistics: registry });
  const live = createLiveView({ ...deps, rules }, toDecisionOptions(settings));
  const notCounted = createNotCounted(settings.health, ports.health, store);
  const transports = createTransports(settings, {
    ...deps,
    ...ports,
    tracer,
    notCounted,
    advice: store.misplaced,
  });
  // Without statistics: those are for BACKEND_TYPE=memory only.
  const localCounters = createMemoryCounters(
    { clock },
    memoryBounds(settings.memory, readHeapLimit()),
  );
  const log = createDecisionLog(settings.decisionLog, {
    ...deps,
    statistics: registry,
    open: deps.openLog,
  });
  const debugged = DEBUG_LEVELS.has(settings.logging.level)
    ? createDebugDecisions(deps)
    : undefined;
  const decisions = createDecisionsActor(transports.requests$, settings, {
    ...deps,
    rules,
    whyNoRules,
    counters: store.counters,
    localCounters,
    tracer,
    log: bothLogs(log, debugged),
    live,
    reports: createDecisionReports(deps),
  });
  return {
    run$: merge(store.run$, limitsFrom.run$, transports.run$, decisions.run$),
    live,
    connections: transports.grpc.share,
    listen: () => listenForCalls(transports),
    closePorts: (withinMs) => transports.close(withinMs),
    async finish() {
      await decisions.close();
      debugged?.close();
      await log?.close();
      limitsFrom.close();
      await Promise.all([store.counters.close(), localCounters.close()]);
    },
    async closeTraces() {
      await tracing?.close(LAST_TRACES_MS);
    },
  };
}

interface RulesWithoutScriptsDeps {
  readonly rules: Snapshot<Rules | undefined>;
  readonly statistics: Pick<Statistics, 'gauge'>;
}

/** Exposes, for each Redis, the rules that need scripts while it refuses them, as `<prefix>.rules_without_scripts`. */
export function showRulesWithoutScripts(
  stores: readonly ScriptStore[],
  { rules, statistics }: RulesWithoutScriptsDeps,
): void {
  for (const { prefix, lacksScripts, counts } of stores)
    statistics.gauge(`${prefix}.rules_without_scripts`, () =>
      lacksScripts() ? countNeedingScripts(rules.current, counts) : 0,
    );
}

function countNeedingScripts(rules: Rules | undefined, counts: ScriptStore['counts']): number {
  let count = 0;
  for (const { limit } of rules?.places.keys() ?? []) {
    if (limit?.limiter.kind.readsFirst !== true) continue;
    if (counts === 'all' || isPerSecond({ rule: limit }) === (counts === 'per-second')) count += 1;
  }
  return count;
}
