import type { Hits } from './rule-rates';
import type { UnmatchedView } from './unmatched';
import type { BatchStats } from '../../core/decision/figures';
import { Histogram, quantile, samplesSince } from '../histogram';
import { isBudgetLimiter } from '../../core/budgets/budget';
import { budgetFields } from '../../core/explain/limit-fields';
import { burstOf } from '../../core/kinds/limiter';
import type { State } from '../../core/kinds/kind';
import { rateWords } from '../../core/rules/describe-limit';
import type { RuleLimit } from '../../core/rules/rules';

/** Current figures; all rates per second, all durations in milliseconds. */
export interface LiveFigures extends ExceptionCounts {
  readonly requests: number;
  readonly hits: Hits;
  /** Requests per batch: mean and maximum; undefined when there was none. */
  readonly batch: { readonly mean: number; readonly largest: number } | undefined;
  /** From a gRPC call to its answer; undefined when there was none. */
  readonly response: LatencyQuantiles | undefined;
  /** From the call of the counters for a batch to their answer or failure; undefined when there was none. */
  readonly store: LatencyQuantiles | undefined;
  readonly rules: readonly (readonly [id: number, ...Hits])[];
  readonly domains: readonly (readonly [place: number, ...Hits])[];
  readonly hot: readonly HotKeyView[];
  /** By how much a rate of a hot key may be too low. */
  readonly hotError: number;
  /** The last shapes of descriptors without a rule, the most frequent first. */
  readonly unmatched: readonly UnmatchedView[];
  /** Gauges of stores and caches, with their names in the statistics. */
  readonly gauges: Readonly<Record<string, number>>;
  /** Figures of each worker; undefined where one process decides. */
  readonly workers?: readonly WorkerFigures[];
}

export interface WorkerFigures {
  readonly worker: number;
  /** False until its first report, and after its end. */
  readonly isUp: boolean;
  readonly requests: number;
  /** The share of time, 0 to 1, in which its event loop worked; undefined: not reported yet. */
  readonly busy: number | undefined;
  /** How often it died and was restarted. */
  readonly restarts: number;
}

export interface HotKeyView {
  /** Its identity; the same in each window. */
  readonly id: string;
  readonly domain: string;
  /** Keys and values of the descriptor; undefined for a limit of a request, which only `text` names. */
  readonly entries: readonly (readonly [key: string, value: string])[] | undefined;
  readonly text: string;
  /** The id of the rule, where it is listed. */
  readonly rule: number | undefined;
  readonly perSecond: number;
  readonly value: number | undefined;
  readonly isOver: boolean;
  /** Leased hits gave the last answer; absent: they did not. */
  readonly isLeased?: boolean | undefined;
  readonly limit: number;
  /** For gcra: the burst size; `value` is the part in use. */
  readonly burst?: number | undefined;
  /** The period of the limit in words: `minute`, `5 minutes`. */
  readonly per: string;
  readonly resetsIn: number;
  /** For a rule with several limits, reservations or blocks: the usage of each. */
  readonly budget?: BudgetStanding | undefined;
}

/** Only the hottest counters. */
export type HotFigures = Pick<LiveFigures, 'hot' | 'hotError'>;

/** Outcomes of requests other than the store's answer. */
const EXCEPTIONS = [
  'unknownDomains',
  'serviceErrors',
  'storeErrors',
  'storeTimeouts',
  'breakerOpen',
  'answeredLocally',
  // The caller left before the decision.
  'abandoned',
  // SHADOW_MODE let it pass.
  'globalShadow',
] as const;
type Exception = (typeof EXCEPTIONS)[number];
type ExceptionCounts = Readonly<Record<Exception, number>>;

/** The count of each exception. */
export function exceptionCounts(of: (exception: Exception) => number): Record<Exception, number> {
  const counts = EXCEPTIONS.map((exception) => [exception, of(exception)]);
  return Object.fromEntries(counts) as Record<Exception, number>;
}

export interface LatencyQuantiles {
  readonly p50: number;
  readonly p99: number;
}

const NONE = { requests: 0, batches: 0, largest: 0, ...exceptionCounts(() => 0) };

/** Sums over batches, with a handful of additions for each. */
export class BatchFigures {
  #sums = { ...NONE };
  readonly #storeTimes = new Histogram();
  #storeBefore = this.#storeTimes.counts.slice();

  decided(requests: number, batchStats: BatchStats): void {
    const sums = this.#sums;
    sums.requests += requests;
    sums.batches += 1;
    if (requests > sums.largest) sums.largest = requests;
    for (const { descriptors } of batchStats.unmet.unknownDomains)
      sums.unknownDomains += descriptors;
    sums.serviceErrors += batchStats.serviceErrors;
    sums.storeErrors += batchStats.storeErrors;
    sums.storeTimeouts += batchStats.storeTimeouts;
    sums.breakerOpen += batchStats.breakerOpen;
    sums.answeredLocally += batchStats.answeredLocally;
    sums.abandoned += batchStats.abandoned;
    sums.globalShadow += batchStats.globalShadowMode;
  }

  asked(milliseconds: number): void {
    this.#storeTimes.record(milliseconds, 1);
  }

  /** The sums since the last call; `store` is undefined where it answered no batch, and none timed out. */
  take() {
    const { counts } = this.#storeTimes;
    const totals = { ...this.#sums, store: quantilesSince(counts, this.#storeBefore) };
    this.#sums = { ...NONE };
    this.#storeBefore = counts.slice();
    return totals;
  }
}

/** Quantiles of the durations in `counts` beyond those in `before`; undefined when there are none. */
export function quantilesSince(
  counts: Float64Array,
  before: Float64Array | undefined,
): LatencyQuantiles | undefined {
  const samples = samplesSince(counts, before);
  if (samples.length === 0) return undefined;
  return { p50: quantile(samples, 0.5), p99: quantile(samples, 0.99) };
}

/** The state of a counter with several limits, reservations or blocks, for a page. */
export interface BudgetStanding {
  readonly limits: readonly LimitUse[];
  /** Open reservations and their hits; absent for a rule without reservations. */
  readonly open?: number;
  readonly held?: number;
  /** Seconds until its block ends; absent while it is not blocked. */
  readonly blockedSeconds?: number;
}

/** The usage of one limit, reserved hits and slots included: 2 of 4 `in flight`, 30 of 50 `per hour`. */
interface LimitUse {
  readonly used: number;
  readonly of: number;
  readonly words: string;
}

/** Undefined: the rule has one limit. */
export function budgetStanding(
  rule: RuleLimit,
  state: State,
  second: number,
): BudgetStanding | undefined {
  const fields = budgetFields(rule, { state }, second);
  const { limiter, budget } = rule;
  if (fields === undefined || budget === undefined || !isBudgetLimiter(limiter)) return undefined;
  const { open, held, blockedSeconds } = fields;
  const limits = fields.limits.map(({ name, remaining }): LimitUse => {
    const at = budget.names.indexOf(name);
    const limit = budget.entries[at] as RuleLimit;
    const of = limiter.budget.entries[at]?.limiter.size ?? limit.requestsPerUnit;
    return { used: of - remaining, of, words: wordsOf(limit) };
  });
  return {
    limits,
    ...(open !== undefined && { open, held }),
    ...(blockedSeconds !== undefined && { blockedSeconds }),
  };
}

/** With a burst, the rate differs from the number of hits that fit at once. */
function wordsOf(limit: RuleLimit): string {
  const words = rateWords(limit);
  const burst = burstOf(limit.limiter);
  return burst === undefined || burst === limit.requestsPerUnit
    ? words
    : `at once, ${limit.requestsPerUnit.toLocaleString('en')} ${words}`;
}
