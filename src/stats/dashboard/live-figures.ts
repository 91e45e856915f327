import type { BudgetStanding } from './budget-standing';
import type { ExceptionCounts, LatencyQuantiles } from './batch-figures';
import type { Hits } from './rule-rates';
import type { UnmatchedView } from './unmatched';

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
