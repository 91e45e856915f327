import { localLimiter, policyOf } from '../core/decision/outage';
import type { PolicyHeaderOptions, PolicyStatus } from '../core/decision/policy-headers';
import type { BudgetOutcome, EntryOutcome } from '../core/budgets/outcome';
import { burstOf } from '../core/kinds/limiter';
import { nearLimitThreshold, type Verdict } from '../core/decision/verdict';
import type { DescriptorStatus } from '../core/model';
import type { DescriptorHit } from '../core/planning/plan';
import { periodOf, periodSecondsAt } from '../core/rules/describe-limit';
import { isHolding, type BudgetLimits, type RuleLimit } from '../core/rules/rules';
import type { BatchContext, Verdicts } from './batch';

/** The statuses for headers and bodies of one request, whose hits begin at `start`: one for each limit with figures. */
export function policyStatuses(
  batch: BatchContext,
  verdicts: Verdicts,
  start: number,
  wanted: PolicyHeaderOptions['policies'],
): PolicyStatus[] {
  const statuses: PolicyStatus[] = [];
  for (let i = 0; i < verdicts.length; i++) {
    const verdict = verdicts[i];
    if (verdict?.status.currentLimit === undefined) continue;
    const hit = batch.plan.descriptorHits[start + i] as DescriptorHit;
    if (verdict.budget === undefined) statuses.push(toPolicyStatus(hit, verdict, batch));
    else {
      statuses.push(...statusesOfBudget(hit, verdict, verdict.budget, { batch, wanted }));
    }
  }
  return statuses;
}

/** One for each limit of a rule with a budget that applies, or only for the nearest. */
function statusesOfBudget(
  hit: DescriptorHit,
  verdict: Verdict,
  { entry, entries }: BudgetOutcome,
  {
    batch,
    wanted,
  }: { readonly batch: BatchContext; readonly wanted: PolicyHeaderOptions['policies'] },
): readonly PolicyStatus[] {
  const budget = hit.limit.budget as BudgetLimits;
  const { entries: limits, names } = budget;
  return limits.flatMap((limit, at): readonly PolicyStatus[] => {
    if (wanted === 'all' ? !isHolding(budget, at) : at !== entry) return [];
    const status = at === entry ? verdict.status : statusOf(limit, entries[at] as EntryOutcome);
    const own = toPolicyStatus({ ...hit, limit }, { ...verdict, status }, batch);
    // Slots have no period that could name them.
    const name = limit.periodSeconds === 0 ? (names[at] as string) : own.name;
    return [{ ...own, name }];
  });
}

function statusOf({ current, shadowMode }: RuleLimit, outcome: EntryOutcome): DescriptorStatus {
  return {
    code: outcome.isOver && !shadowMode ? 'OVER_LIMIT' : 'OK',
    currentLimit: current,
    limitRemaining: outcome.remaining,
    secondsUntilReset: outcome.resetSeconds,
  };
}

function toPolicyStatus(
  hit: DescriptorHit,
  { status, enforcement }: Verdict,
  batch: BatchContext,
): PolicyStatus {
  const { limit, hits } = hit;
  const { plan, windows } = batch;
  const size = sizeOf(hit, batch);
  const { remaining, resetSeconds, isNear } = figuresOf(hit, status, size, batch);
  // Without a spread, which takes longer than all the rest.
  return {
    remaining,
    resetSeconds,
    isNear,
    name: limit.name,
    metric: hit.metric,
    limit: limit.requestsPerUnit,
    period: periodOf(limit),
    periodSeconds: periodSecondsAt(limit, windows.second),
    burst: burstOf(limit.limiter),
    isOver: status.code === 'OVER_LIMIT',
    isShadow: limit.shadowMode,
    isQuota: enforcement === 'quota',
    neverFits: hits > size,
    key: plan.increments[hit.increment]?.key ?? '',
  };
}

/** The burst size; while this instance counts alone, that of its share. */
function sizeOf({ increment, limit }: DescriptorHit, { outage, options }: BatchContext): number {
  const isOwnCount = outage?.errorOf(increment) !== undefined;
  return (isOwnCount ? localLimiter(limit.limiter, options) : limit.limiter).size;
}

/** The counter's figures; an unreachable store may return within a second. */
function figuresOf(
  hit: DescriptorHit,
  { limitRemaining, secondsUntilReset = 0 }: DescriptorStatus,
  size: number,
  batch: BatchContext,
): Pick<PolicyStatus, 'remaining' | 'resetSeconds' | 'isNear'> {
  if (wasNotCounted(hit, batch)) return { remaining: undefined, resetSeconds: 1, isNear: false };
  const near = nearLimitThreshold(size, batch.options.nearLimitRatio);
  const isNear = size - limitRemaining > near;
  return { remaining: limitRemaining, resetSeconds: secondsUntilReset, isNear };
}

/** Whether `on_store_error` made this answer (allow or deny) without any count. */
function wasNotCounted(hit: DescriptorHit, { outage, options }: BatchContext): boolean {
  const error = outage?.errorOf(hit.increment);
  return error !== undefined && policyOf(hit, error, options) !== 'local';
}
