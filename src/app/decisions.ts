import { map, type Observable } from 'rxjs';
import { batchedQuestions, turnWindow, type Snapshot } from '../../streams';
import type { StoreError } from '../core/errors';
import type { Clock, Counters, Question, Random } from '../core/ports';
import type { RuleTally, Tally } from '../core/decision/tally';
import type { Rules } from '../core/rules/rules';
import { createDecideBatch } from '../decisions/decide-batch';
import type { Logger } from '../platform/logger/logger';
import type { Settings } from '../settings/settings';
import type { LiveView } from '../stats/live/create-live-view';
import { createRecordTally } from '../stats/record-tally';
import type { Registry } from '../stats/registry';
import type { Tracing } from '../tracing/create-tracing';
import type { CounterStore } from './choose-counters';
import { toDecisionOptions } from './decision-options';
import { gatheringMs } from './gathering-window';
import type { OutageLog } from './outage-log';

export interface DecisionsDeps {
  readonly rules: Snapshot<Rules | undefined>;
  readonly store: CounterStore;
  /** Takes the place of a store that is away. */
  readonly localCounters: Counters;
  readonly live: LiveView;
  readonly registry: Registry;
  readonly outages: OutageLog;
  readonly clock: Clock;
  readonly monotonicMs: () => number;
  readonly random: Random;
  readonly logger: Logger;
  readonly tracing?: Tracing | undefined;
}

/** Requests of one batch; more only make the answers of the first wait longer. */
const MAX_BATCH = 4_096;

/** Answers all questions, counts what became of them, and reports the calls that fail for want of the store. */
export function answerQuestions(
  questions$: Observable<readonly Question[]>,
  settings: Settings,
  deps: DecisionsDeps,
): Observable<void> {
  const { rules, store, localCounters, live, clock, monotonicMs, random, logger } = deps;
  const reports = createStoreReports(store, deps.outages, logger);
  const decideBatch = createDecideBatch(
    {
      rules,
      counters: live.watchCounters(store.counters, 'store'),
      localCounters: live.watchCounters(localCounters, 'local'),
      clock,
      random,
      tracer: deps.tracing?.tracer,
      onStoreError: reports.onStoreError,
      onFault: (error) => {
        logger.error('a batch of decisions failed', { error });
      },
    },
    toDecisionOptions(settings),
  );
  const record = createRecordTally(deps.registry);
  return questions$.pipe(
    batchedQuestions({
      until: turnWindow(gatheringMs(settings), monotonicMs),
      maxSize: MAX_BATCH,
      answer: live.watchDecisions(decideBatch),
    }),
    map((tally) => {
      record(tally);
      reports.onTally(tally);
    }),
  );
}

const COUNTERS = 'counters';
const COUNTER_LINES = {
  level: 'warn',
  failing: 'some counters cannot be counted',
  ended: 'all counters are counted again',
} as const;

const CALLS = 'calls';
const CALL_LINES = {
  level: 'error',
  failing: 'calls fail for want of the counter store',
  ended: 'calls are counted again',
} as const;

/**
 * Reports single counters that the store refused, with the store's own words, which callers are not given, and calls that fail
 * because the store is away. At the level debug, every batch that was not counted whole. A batch costs one comparison while
 * the store has never failed.
 */
function createStoreReports(
  { description, whyAway }: CounterStore,
  outages: OutageLog,
  logger: Logger,
) {
  let hasFailed = false;
  return {
    onStoreError: ({ fault, code, message }: StoreError): void => {
      hasFailed = true;
      logger.debug('the store did not count a batch', { code, fault, reason: message });
      if (fault !== 'key' && fault !== 'answer') return;
      outages.failed(COUNTERS, COUNTER_LINES, { code, reason: message });
    },
    onTally: ({ outage, storeErrors, answeredLocally, rules }: Tally): void => {
      if (!hasFailed) return;
      if (outage !== undefined) {
        const fields = { store: description, reason: whyAway() ?? outage };
        outages.failed(CALLS, CALL_LINES, fields, storeErrors - answeredLocally);
      } else if (storeErrors === 0 && rules.some(isCounted)) {
        outages.worked(CALLS);
        outages.worked(COUNTERS);
      }
    },
  };
}

/** Whether the store was asked for this line. */
function isCounted({ limit, overLimitWithLocalCache }: RuleTally): boolean {
  return !limit.unlimited && overLimitWithLocalCache === 0;
}
