import { policyOf } from '../core/decision/outage';
import type { PolicyStatus } from '../core/decision/policy-headers';
import { nearLimitThreshold, type Verdict } from '../core/decision/verdict';
import type { Ask } from '../core/planning/plan';
import { periodOf, periodSecondsAt } from '../core/rules/describe-limit';
import type { BatchContext } from './batch';

/** One for each descriptor of a request; undefined where no limit applies. */
export type Verdicts = readonly (Verdict | undefined)[];

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

function toPolicyStatus(ask: Ask, { status, enforcement }: Verdict, batch: BatchContext) {
  const { limit, hits } = ask;
  const { plan, nowSeconds, options } = batch;
  const { code, limitRemaining, secondsUntilReset = 0 } = status;
  const size = limit.algorithm?.size ?? limit.requestsPerUnit;
  const isOver = code === 'OVER_LIMIT';
  const isUncounted = wasNotCounted(ask, batch);
  const near = nearLimitThreshold(size, options.nearLimitRatio);
  return {
    name: limit.name,
    limit: limit.requestsPerUnit,
    period: periodOf(limit),
    periodSeconds: periodSecondsAt(limit, nowSeconds),
    burst: limit.algorithm?.name === 'gcra' ? size : undefined,
    remaining: isUncounted ? undefined : limitRemaining,
    // The store may be back at once, and nobody knows more.
    resetSeconds: isUncounted ? 1 : secondsUntilReset,
    isOver,
    isShadow: limit.shadowMode,
    isQuota: enforcement === 'quota',
    neverFits: hits > size,
    isNear: !isUncounted && size - limitRemaining > near,
    key: plan.increments[ask.increment]?.key ?? '',
  };
}

/** Whether `on_store_error` made this answer, allow or deny, without any count. */
function wasNotCounted(ask: Ask, { outage, options }: BatchContext): boolean {
  const error = outage?.errorOf(ask.increment);
  return error !== undefined && policyOf(ask, error, options) !== 'local';
}
