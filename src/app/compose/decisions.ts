import { tap, type Observable } from 'rxjs';
import { batchedRequests, turnWindow } from '../../../streams';
import type { BatchStats, DescriptorStats } from '../../core/decision/figures';
import type { StoreError } from '../../core/errors';
import type { LimitsFrom, PendingRequest } from '../../core/ports';
import {
  createDecideBatch,
  type DecideBatch,
  type DecisionDeps,
  type DecisionOptions,
} from '../../decisions/decide-batch';
import type { Logger } from '../../platform/logger';
import { type Settings, batchWindowMs } from '../../settings/settings';
import type { LiveView } from '../../stats/dashboard/create-live-view';
import { createRecordStats } from '../../stats/record-stats';
import type { Registry } from '../../stats/registry';
import type { OutageLog } from '../outage-log';
import { withEnd } from '../actor';
import { createCallerReports } from '../observe/caller-reports';
import type { CounterStore } from '../store/store';
import type { PolicyOptions } from '../../core/decision/policy-headers';
import type { ResponseHeaderSettings } from '../../settings/response-headers';

export interface DecisionsDeps extends Omit<DecisionDeps, 'onStoreError' | 'onFault'> {
  readonly limitsFrom?: LimitsFrom;
  readonly monotonicMs: () => number;
  readonly logger: Logger;
  /** Watches for the dashboard. */
  readonly live?: LiveView;
  readonly reports?: DecisionReports;
}

/** Receives the results of batches. */
export interface DecisionReports {
  readonly onBatchStats: (batchStats: BatchStats) => void;
  readonly onStoreError: (error: StoreError) => void;
}

/** Requests per batch; more only delay the answers of the first. */
const MAX_BATCH = 4_096;

export function createDecisionsActor(
  requests$: Observable<readonly PendingRequest[]>,
  settings: Settings,
  { live, reports, ...deps }: DecisionsDeps,
) {
  const { counters, localCounters, logger } = deps;
  const watched = live && {
    counters: live.watchCounters(counters, 'store'),
    ...(localCounters && { localCounters: live.watchCounters(localCounters, 'local') }),
  };
  const decideBatch = createDecideBatch(
    {
      ...deps,
      ...watched,
      ...(reports && { onStoreError: reports.onStoreError }),
      onFault: (error) => {
        logger.error('a batch of decisions failed', { error });
      },
    },
    { ...toDecisionOptions(settings), limitsFrom: deps.limitsFrom },
  );
  const { run$, ended } = withEnd(
    requests$.pipe(
      batchedRequests({
        until: turnWindow(batchWindowMs(settings), deps.monotonicMs),
        maxSize: MAX_BATCH,
        answer: toAnswer(live?.watchDecisions(decideBatch) ?? decideBatch),
      }),
      tap(reports?.onBatchStats),
    ),
  );
  return {
    run$,
    /** Settles when every request is answered. Their source must be closed before. */
    close: () => ended,
  };
}

/** A synchronous decision continues synchronously. */
function toAnswer(decide: DecideBatch) {
  return (batch: readonly PendingRequest[]): Promise<BatchStats> | readonly BatchStats[] => {
    const batchStats = decide(batch);
    return batchStats instanceof Promise ? batchStats : [batchStats];
  };
}

export interface ReportsDeps {
  readonly registry: Registry;
  readonly store: CounterStore;
  readonly outages: OutageLog;
  readonly logger: Logger;
  readonly monotonicMs: () => number;
}

/** Counts the results of batches, and reports calls that fail because of the store or whose callers give up. */
export function createDecisionReports(deps: ReportsDeps): DecisionReports {
  const record = createRecordStats(deps.registry);
  const report = createStoreReports(deps.store, deps.outages, deps.logger);
  const reportCallers = createCallerReports(deps);
  return {
    onBatchStats(batchStats) {
      record(batchStats);
      report.onBatchStats(batchStats);
      reportCallers(batchStats);
    },
    onStoreError: report.onStoreError,
  };
}

const COUNTERS = 'counters';
const COUNTER_LINES = {
  level: 'warn',
  failing: 'some counters cannot be incremented',
  ended: 'all counters can be incremented again',
} as const;

const CALLS = 'calls';
const CALL_LINES = {
  level: 'error',
  failing: 'calls are failing: counter store unavailable',
  ended: 'calls are counted again',
} as const;

/**
 * Reports single counters that the store refused, in the store's own words, which clients never see, and calls that fail because
 * the store is unreachable. At the level debug, every batch that was not counted completely. A batch costs one comparison until the
 * store fails for the first time.
 */
function createStoreReports(
  { description, whyAway }: CounterStore,
  outages: OutageLog,
  logger: Logger,
): DecisionReports {
  let hasFailed = false;
  return {
    onStoreError({ fault, code, message }) {
      hasFailed = true;
      logger.debug('the store did not count a batch', { code, fault, reason: message });
      if (fault !== 'key' && fault !== 'answer') return;
      outages.failed(COUNTERS, COUNTER_LINES, { code, reason: message });
    },
    onBatchStats({ outage, storeErrors, answeredLocally, rules }) {
      if (!hasFailed) return;
      if (outage !== undefined) {
        const fields = { store: description, reason: whyAway() ?? outage };
        outages.failed(CALLS, CALL_LINES, fields, storeErrors - answeredLocally);
      } else if (storeErrors === 0 && rules.some(isCounted)) {
        outages.succeeded(CALLS);
        outages.succeeded(COUNTERS);
      }
    },
  };
}

/** Whether the store was called for this line. */
function isCounted({ limit, overLimitWithLocalCache }: DescriptorStats): boolean {
  return !limit.unlimited && overLimitWithLocalCache === 0;
}

export function toDecisionOptions(settings: Settings): DecisionOptions {
  const { decisions, responseHeaders, storeFailure, backend } = settings;
  const { enabled, limit, remaining, reset } = responseHeaders;
  return {
    ...decisions,
    ...storeFailure,
    headers: enabled ? { limit, remaining, reset } : undefined,
    policies: toPolicyOptions(responseHeaders),
    readFirst: backend === 'memstore',
  };
}

/** Undefined when all of it is off: a decision then costs one comparison more. */
function toPolicyOptions(headers: ResponseHeaderSettings): PolicyOptions | undefined {
  const { policies, retryAfter, near = '', jitterPercent, body } = headers;
  const isOff =
    policies === 'off' && !retryAfter && near === '' && jitterPercent === 0 && body === 'off';
  if (isOff) return undefined;
  return {
    policies,
    retryAfter,
    nearHeader: near,
    jitterPercent,
    problemBody: body !== 'off',
    untypedBody: body === 'untyped-problem',
  };
}

/**
 * The headers of `/check`: the caller is a client or its proxy, so they are sent whatever is set for Envoy, and policies are
 * reduced to the nearest only where the setting says so.
 */
export function toCheckPolicies(headers: ResponseHeaderSettings): PolicyOptions {
  const { policies, near = '', jitterPercent, body } = headers;
  return {
    policies: policies === 'nearest' ? 'nearest' : 'all',
    retryAfter: true,
    nearHeader: near,
    jitterPercent,
    problemBody: body !== 'off',
    figures: true,
  };
}
