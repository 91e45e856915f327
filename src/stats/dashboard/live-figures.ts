import type { BudgetStanding } from './budget-standing';
import type { ExceptionCounts, LatencyQuantiles } from './batch-figures';
import type { Hits } from './rule-rates';
import type { UnmatchedView } from './unmatched';

/** What happens now; all rates per second, all durations in milliseconds. */
export interface LiveFigures extends ExceptionCounts {
  readonly requests: number;
  readonly hits: Hits;
  /** Requests in one batch: on average and at most; undefined when there was none. */
  readonly batch: { readonly mean: number; readonly largest: number } | undefined;
  /** From a gRPC call to its answer; undefined when there was none. */
  readonly response: LatencyQuantiles | undefined;
  /** From asking the counters for a batch to their answer or failure; undefined when they were not asked. */
  readonly store: LatencyQuantiles | undefined;
  readonly rules: readonly (readonly [id: number, ...Hits])[];
  readonly domains: readonly (readonly [place: number, ...Hits])[];
  readonly hot: readonly HotKeyView[];
  /** By how much a rate of a hot key may be too low. */
  readonly hotError: number;
  /** The last shapes of descriptors without a rule, the most frequent first. */
  readonly unmatched: readonly UnmatchedView[];
  /** Gauges of stores and caches, as the statistics name them. */
  readonly gauges: Readonly<Record<string, number>>;
  /** Each of several workers; undefined where one process decides. */
  readonly workers?: readonly WorkerFigures[];
}

export interface WorkerFigures {
  readonly worker: number;
  /** False until it has said something, and from its end on. */
  readonly isUp: boolean;
  readonly requests: number;
  /** The share of time, 0 to 1, in which its event loop worked; undefined: it has not said so yet. */
  readonly busy: number | undefined;
  /** How often it ended by itself and was started again. */
  readonly restarts: number;
}

export interface HotKeyView {
  /** Tells it apart; the same in each window. */
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
  /** The last answer came from hits on lease; missing: it did not. */
  readonly isLeased?: boolean | undefined;
  readonly limit: number;
  /** Under gcra: hits that fit at once, of which `value` are in use. */
  readonly burst?: number | undefined;
  /** The period of the limit in words: `minute`, `5 minutes`. */
  readonly per: string;
  readonly resetsIn: number;
  /** Of a rule with several limits, reservations or blocks: how full each of them is. */
  readonly budget?: BudgetStanding | undefined;
}

/** The hottest counters alone. */
export type HotFigures = Pick<LiveFigures, 'hot' | 'hotError'>;
