import type { Algorithm } from '../algorithms/algorithm';
import { nearHits, type Outcome } from '../algorithms/outcome';
import type { DescriptorHit } from '../planning/plan';
import { secondsUntilReset, type Windows } from '../planning/windows';
import type { Code, CurrentLimit, DescriptorStatus } from '../model';
import type { RuleLimit } from '../rules/rules';

/** How a verdict bears on the overall code (behaviour.md §2.6); an unlimited rule does not. */
type Enforcement = 'hard' | 'quota' | 'none';

/** What one descriptor's counter says: its status, and the numbers that statistics count. */
export interface Verdict {
  readonly status: DescriptorStatus;
  readonly enforcement: Enforcement;
  /** The limit that applied: the rule's own object, or one made for a limit in the request. */
  readonly limit: RuleLimit;
  readonly metric: string;
  readonly totalHits: number;
  /** Hits given back. */
  readonly totalNegativeHits: number;
  readonly overLimit: number;
  readonly nearLimit: number;
  readonly withinLimit: number;
  readonly shadowMode: number;
  readonly overLimitWithLocalCache: number;
}

export interface EvaluateOptions {
  /** NEAR_LIMIT_RATIO, 0 to 1. */
  readonly nearLimitRatio: number;
  /** QUOTA_MODE: every rule is a quota. */
  readonly quotaMode: boolean;
}

/** The status of a descriptor that no rule limits (behaviour.md §2.9). */
export const NO_LIMIT: DescriptorStatus = {
  code: 'OK',
  currentLimit: undefined,
  limitRemaining: 0,
  secondsUntilReset: undefined,
};

/** The status under an unlimited rule (behaviour.md §2.4). */
const UNLIMITED: DescriptorStatus = { ...NO_LIMIT, limitRemaining: 4_294_967_295 };

/** The count above which hits are near the limit, in 32-bit floats as the reference rounds (behaviour.md §4.2). */
export function nearLimitThreshold(limit: number, ratio: number): number {
  return Math.floor(Math.fround(Math.fround(limit) * Math.fround(ratio)));
}

/** An unlimited rule is not counted in a store, only in the statistics. */
export function evaluateUnlimited(hit: DescriptorHit): Verdict {
  const hits = Math.max(hit.hits, 0);
  return toVerdict(hit, 'none', UNLIMITED, hits, { over: 0, near: 0, within: hits, shadow: 0 });
}

/** Judges one ask without a count: all of its hits are over the limit, or all are within. */
export function evaluateUncounted(
  hit: DescriptorHit,
  isOver: boolean,
  windows: Windows,
  { quotaMode }: Pick<EvaluateOptions, 'quotaMode'>,
): Verdict {
  const { limit } = hit;
  const hits = Math.max(hit.hits, 0);
  const enforcement = quotaMode || limit.quotaMode ? 'quota' : 'hard';
  const code = isOver && !limit.shadowMode ? 'OVER_LIMIT' : 'OK';
  const remaining = isOver ? 0 : (limit.algorithm?.size ?? limit.requestsPerUnit);
  const status = toStatus(code, limit.current, remaining, secondsUntilReset(limit, windows));
  return toVerdict(hit, enforcement, status, hits, splitWhole(limit, hits, isOver, 0));
}

/** Judges an ask whose counter the local cache knows to be over. */
export function evaluateKnownOver(
  hit: DescriptorHit,
  windows: Windows,
  options: Pick<EvaluateOptions, 'quotaMode'>,
): Verdict {
  const verdict = evaluateUncounted(hit, true, windows, options);
  return { ...verdict, overLimitWithLocalCache: verdict.overLimit };
}

/**
 * Judges one ask by its counter. `after` is the counter right after this ask's own hits; for one
 * that was held back, the counter as it stands. Hits given back count apart from all others.
 */
export function evaluate(
  hit: DescriptorHit,
  after: number,
  held: boolean,
  windows: Windows,
  { nearLimitRatio, quotaMode }: EvaluateOptions,
): Verdict {
  const { limit } = hit;
  const hits = Math.max(hit.hits, 0);
  const enforcement = quotaMode || limit.quotaMode ? 'quota' : 'hard';
  const reset = secondsUntilReset(limit, windows);
  const near = nearLimitThreshold(limit.requestsPerUnit, nearLimitRatio);
  if (after > limit.requestsPerUnit) {
    const code = limit.shadowMode ? 'OK' : 'OVER_LIMIT';
    const status = toStatus(code, limit.current, 0, reset);
    return toVerdict(hit, enforcement, status, hits, splitOver(hit, hits, after, near));
  }
  // A counter that others set back, or that stood below 0, leaves no more than the limit.
  const remaining = limit.requestsPerUnit - Math.max(after, 0);
  const status = toStatus('OK', limit.current, remaining, reset);
  const nearCount = held ? 0 : hitsAbove(near, hits, after);
  const split = { over: 0, near: nearCount, within: hits, shadow: 0 };
  return toVerdict(hit, enforcement, status, hits, split);
}

/**
 * Judges one ask under an algorithm, whose hits are admitted or refused whole: a refused one is over with all its hits, and
 * near with none. One that was held back looks.
 */
export function evaluateOutcome(
  hit: DescriptorHit,
  outcome: Outcome,
  held: boolean,
  windows: Windows,
  { nearLimitRatio, quotaMode }: EvaluateOptions,
): Verdict {
  const { limit } = hit;
  const { isOver, remaining, used, resetSeconds } = outcome;
  const { name, size } = limit.algorithm as Algorithm;
  const hits = Math.max(hit.hits, 0);
  const enforcement = quotaMode || limit.quotaMode ? 'quota' : 'hard';
  const reset = name === 'fixed_window' ? secondsUntilReset(limit, windows) : resetSeconds;
  const code = isOver && !limit.shadowMode ? 'OVER_LIMIT' : 'OK';
  const status = toStatus(code, limit.current, remaining, reset);
  const near = held ? 0 : nearHits(nearLimitThreshold(size, nearLimitRatio), hits, used);
  return toVerdict(hit, enforcement, status, hits, splitWhole(limit, hits, isOver, near));
}

interface Split {
  readonly over: number;
  readonly near: number;
  readonly within: number;
  readonly shadow: number;
}

/** Hits that are over with one another, or none of them is. */
function splitWhole({ shadowMode }: RuleLimit, hits: number, isOver: boolean, near: number): Split {
  return isOver
    ? { over: hits, near: 0, within: 0, shadow: shadowMode ? hits : 0 }
    : { over: 0, near, within: hits, shadow: 0 };
}

/** Hits that took a counter over its limit: those beyond it are over, those before it may be near. */
function splitOver({ limit }: DescriptorHit, hits: number, after: number, near: number): Split {
  const threshold = limit.requestsPerUnit;
  const before = after - hits;
  const allOver = before >= threshold;
  const over = allOver ? hits : after - threshold;
  return {
    over,
    near: allOver ? 0 : threshold - Math.max(near, before),
    within: 0,
    shadow: limit.shadowMode ? over : 0,
  };
}

/** How many of the last `hits` of a counter that stands at `after` lie above a threshold. */
function hitsAbove(threshold: number, hits: number, after: number): number {
  if (after <= threshold) return 0;
  return after - hits >= threshold ? hits : after - threshold;
}

function toStatus(
  code: Code,
  currentLimit: CurrentLimit,
  limitRemaining: number,
  secondsUntilReset: number,
): DescriptorStatus {
  return { code, currentLimit, limitRemaining, secondsUntilReset };
}

function toVerdict(
  { metric, limit, hits }: DescriptorHit,
  enforcement: Enforcement,
  status: DescriptorStatus,
  totalHits: number,
  { over, near, within, shadow }: Split,
): Verdict {
  return {
    status,
    enforcement,
    limit,
    metric,
    totalHits,
    totalNegativeHits: Math.max(-hits, 0),
    overLimit: over,
    nearLimit: near,
    withinLimit: within,
    shadowMode: shadow,
    overLimitWithLocalCache: 0,
  };
}
