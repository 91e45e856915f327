import { policyOf } from '../core/decision/outage';
import type { PolicyStatus } from '../core/decision/policy-headers';
import { nearLimitThreshold, type Verdict } from '../core/decision/verdict';
import type { DescriptorStatus } from '../core/model';
import type { Ask } from '../core/planning/plan';
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
    statuses.push(toPolicyStatus(batch.plan.asks[start + i] as Ask, verdict, batch));
  }
  return statuses;
}

function toPolicyStatus(
  ask: Ask,
  { status, enforcement }: Verdict,
  batch: BatchContext,
): PolicyStatus {
  const { limit, hits } = ask;
  const { plan, windows } = batch;
  const size = limit.algorithm?.size ?? limit.requestsPerUnit;
  return {
    ...figuresOf(ask, status, size, batch),
    name: limit.name,
    limit: limit.requestsPerUnit,
    period: periodOf(limit),
    periodSeconds: periodSecondsAt(limit, windows.second),
    burst: limit.algorithm?.name === 'gcra' ? size : undefined,
    isOver: status.code === 'OVER_LIMIT',
    isShadow: limit.shadowMode,
    isQuota: enforcement === 'quota',
    neverFits: hits > size,
    key: plan.increments[ask.increment]?.key ?? '',
  };
}

/** What the counter says; a store that is away may be back within a second. */
function figuresOf(
  ask: Ask,
  { limitRemaining, secondsUntilReset = 0 }: DescriptorStatus,
  size: number,
  batch: BatchContext,
): Pick<PolicyStatus, 'remaining' | 'resetSeconds' | 'isNear'> {
  if (wasNotCounted(ask, batch)) return { remaining: undefined, resetSeconds: 1, isNear: false };
  const near = nearLimitThreshold(size, batch.options.nearLimitRatio);
  const isNear = size - limitRemaining > near;
  return { remaining: limitRemaining, resetSeconds: secondsUntilReset, isNear };
}

/** Whether `on_store_error` made this answer, allow or deny, without any count. */
function wasNotCounted(ask: Ask, { outage, options }: BatchContext): boolean {
  const error = outage?.errorOf(ask.increment);
  return error !== undefined && policyOf(ask, error, options) !== 'local';
}
