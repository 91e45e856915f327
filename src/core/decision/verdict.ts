import type { BudgetOutcome } from '../budgets/outcome';
import type { Limiter, Outcome } from '../kinds/kind';
import { nearHits } from '../kinds/whole';
import type { DescriptorHit } from '../planning/plan';
import { secondsUntilReset, type Windows } from '../planning/windows';
import type { DescriptorStatus } from '../model';
import type { RuleLimit } from '../rules/rules';
import type { DescriptorStats } from './figures';

/** What a verdict means for the overall code (behaviour.md §2.6); an unlimited rule means nothing. */
type Enforcement = 'hard' | 'quota' | 'none';

/** The result for one descriptor: its status, and the numbers for statistics. */
export interface Verdict extends DescriptorStats {
  readonly status: DescriptorStatus;
  readonly enforcement: Enforcement;
  /** For a rule with a budget: the outcome of each limit. */
  readonly budget?: BudgetOutcome | undefined;
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
  return toVerdict(hit, 'none', UNLIMITED, NOT_OVER, 0);
}

const NOT_OVER = { isOver: false, over: 0 };

/** Judges one descriptor without a count: all of its hits are over the limit, or all are within. */
export function evaluateUncounted(
  hit: DescriptorHit,
  isOver: boolean,
  windows: Windows,
  options: Pick<EvaluateOptions, 'quotaMode'>,
): Verdict {
  const { limit } = hit;
  const remaining = isOver ? 0 : limit.limiter.size;
  const over = isOver ? Math.max(hit.hits, 0) : 0;
  const status = toStatus(limit, isOver, remaining, secondsUntilReset(limit, windows));
  return toVerdict(hit, enforcementOf(limit, options), status, { isOver, over }, 0);
}

/** The same verdict, marked as answered by the local cache. */
export function knownOver(verdict: Verdict): Verdict {
  return { ...verdict, overLimitWithLocalCache: verdict.overLimit };
}

/** Judges one descriptor by the outcome under its limiter. None of the hits of a descriptor that was held back is near. */
export function evaluate(
  hit: DescriptorHit,
  { size }: Limiter,
  outcome: Outcome,
  isHeld: boolean,
  options: EvaluateOptions,
): Verdict {
  const { limit } = hit;
  const { isOver, remaining, resetSeconds } = outcome;
  const status = toStatus(limit, isOver, remaining, resetSeconds);
  const near = isHeld ? 0 : nearOf(hit.hits, size, outcome, options);
  return toVerdict(hit, enforcementOf(limit, options), status, outcome, near);
}

/** Where some hits are over, the others may be near. */
function nearOf(
  hits: number,
  size: number,
  { used, over }: Outcome,
  { nearLimitRatio }: EvaluateOptions,
): number {
  const admitted = Math.max(hits, 0) - over;
  return nearHits(nearLimitThreshold(size, nearLimitRatio), admitted, used - over);
}

/** Judges one descriptor of a rule with a budget by the nearest limit (budgets.md section 3). A settle has no hits to judge. */
export function evaluateBudget(
  hit: DescriptorHit,
  outcome: BudgetOutcome,
  isHeld: boolean,
  options: EvaluateOptions,
): Verdict {
  const { entry, isOver, remaining, resetSeconds } = outcome;
  const reported = hit.limit.budget?.entries[entry] ?? hit.limit;
  const asked = hit.limit.reservation === 'settle' ? { ...hit, hits: 0 } : hit;
  const status = toStatus(reported, isOver, remaining, resetSeconds);
  const near = isHeld ? 0 : nearOf(asked.hits, reported.limiter.size, outcome, options);
  return toVerdict(asked, enforcementOf(hit.limit, options), status, outcome, near);
}

function enforcementOf(
  limit: RuleLimit,
  { quotaMode }: Pick<EvaluateOptions, 'quotaMode'>,
): Enforcement {
  return quotaMode || limit.quotaMode ? 'quota' : 'hard';
}

function toStatus(
  { current, shadowMode }: RuleLimit,
  isOver: boolean,
  limitRemaining: number,
  secondsUntilReset: number,
): DescriptorStatus {
  const code = isOver && !shadowMode ? 'OVER_LIMIT' : 'OK';
  return { code, currentLimit: current, limitRemaining, secondsUntilReset };
}

function toVerdict(
  { metric, limit, hits }: DescriptorHit,
  enforcement: Enforcement,
  status: DescriptorStatus,
  outcome: Pick<Outcome, 'isOver' | 'over'> | BudgetOutcome,
  near: number,
): Verdict {
  const { isOver, over } = outcome;
  const totalHits = Math.max(hits, 0);
  return {
    status,
    enforcement,
    limit,
    metric,
    totalHits,
    totalNegativeHits: Math.max(-hits, 0),
    overLimit: over,
    nearLimit: near,
    withinLimit: isOver ? 0 : totalHits,
    shadowMode: limit.shadowMode ? over : 0,
    overLimitWithLocalCache: 0,
    budget: 'entries' in outcome ? outcome : undefined,
  };
}
