import { policyOf, withShare } from '../core/decision/outage';
import type { PolicyStatus } from '../core/decision/policy-headers';
import { nearLimitThreshold, type Verdict } from '../core/decision/verdict';
import type { DescriptorStatus } from '../core/model';
import type { DescriptorHit } from '../core/planning/plan';
import { periodOf, periodSecondsAt } from '../core/rules/describe-limit';
import type { BatchContext, Verdicts } from './batch';

/** What headers and bodies say of one request, whose asks begin at `start`: a status for each limit that has figures. */
export function policyStatuses(
  batch: BatchContext,
  verdicts: Verdicts,
  start: number,
): PolicyStatus[] {
  const statuses: PolicyStatus[] = [];
  for (let i = 0; i < verdicts.length; i++) {
    const verdict = verdicts[i];
    if (verdict?.status.currentLimit === undefined) continue;
    statuses.push(
      toPolicyStatus(batch.plan.descriptorHits[start + i] as DescriptorHit, verdict, batch),
    );
  }
  return statuses;
}

function toPolicyStatus(
  hit: DescriptorHit,
  { status, enforcement }: Verdict,
  batch: BatchContext,
): PolicyStatus {
  const { limit, hits } = hit;
  const { plan, windows } = batch;
  const size = sizeOf(hit, batch);
  return {
    ...figuresOf(hit, status, size, batch),
    name: limit.name,
    limit: limit.requestsPerUnit,
    period: periodOf(limit),
    periodSeconds: periodSecondsAt(limit, windows.second),
    burst: limit.algorithm?.name === 'gcra' ? limit.algorithm.size : undefined,
    isOver: status.code === 'OVER_LIMIT',
    isShadow: limit.shadowMode,
    isQuota: enforcement === 'quota',
    neverFits: hits > size,
    key: plan.increments[hit.increment]?.key ?? '',
  };
}

/** Hits that fit at once; while this instance counts for itself, those of its share. */
function sizeOf(hit: DescriptorHit, { outage, options }: BatchContext): number {
  const isOwnCount = outage?.errorOf(hit.increment) !== undefined;
  const { algorithm, requestsPerUnit } = (isOwnCount ? withShare(hit, options) : hit).limit;
  return algorithm?.size ?? requestsPerUnit;
}

/** What the counter says; a store that is away may be back within a second. */
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

/** Whether `on_store_error` made this answer, allow or deny, without any count. */
function wasNotCounted(hit: DescriptorHit, { outage, options }: BatchContext): boolean {
  const error = outage?.errorOf(hit.increment);
  return error !== undefined && policyOf(hit, error, options) !== 'local';
}
