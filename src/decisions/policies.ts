import { localLimiter, policyOf } from '../core/decision/outage';
import {
  type PolicyHeaderOptions,
  type PolicyStatus,
  policyHeaders,
  RETRY_AFTER,
  type PolicyOptions,
  policyNames,
  type NamedPolicy,
  lengthen,
} from '../core/decision/policy-headers';
import type { BudgetOutcome, EntryOutcome } from '../core/budgets/outcome';
import { burstOf } from '../core/kinds/limiter';
import { nearLimitThreshold, type Verdict } from '../core/decision/verdict';
import type { DescriptorStatus, Decision, Header, LimitFigures } from '../core/model';
import type { DescriptorHit } from '../core/planning/plan';
import { periodOf, periodSecondsAt, periodText } from '../core/rules/describe-limit';
import { isHolding, type BudgetLimits, type RuleLimit } from '../core/rules/rules';
import type { BatchContext, Verdicts } from './batch';
import { limitHeaders } from '../core/decision/response';

/** The statuses for headers and bodies of one request, whose hits begin at `start`: one for each limit with figures. */
function policyStatuses(
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

/** The content type of a problem (RFC 9457), as a header of the answer. */
const PROBLEM_HEADER = { key: 'Content-Type', value: 'application/problem+json' } as const;

interface StoppedBy extends NamedPolicy {
  readonly isOver: boolean;
  readonly isShadow: boolean;
}

/**
 * The body for a refused client: a problem of the type in draft-ietf-httpapi-ratelimit-headers, with the policies named as in the
 * headers.
 */
function problemBody(all: readonly StoppedBy[]): string {
  const statuses = all.filter(({ isShadow }) => !isShadow);
  const names = policyNames(statuses);
  return JSON.stringify({
    type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
    title: 'A rate limit is exceeded',
    'violated-policies': names.filter((_, at) => statuses[at]?.isOver === true),
  });
}

/** The decision on a request whose hits begin at `start`, with the headers and the body that settings add to the first three. */
export function withPolicies(
  decision: Decision,
  batch: BatchContext,
  verdicts: Verdicts,
  start: number,
  policies: PolicyOptions,
): Decision {
  const { kind, overallCode, statuses: ofDescriptors, dynamicMetadata } = decision;
  const statuses = policyStatuses(batch, verdicts, start, policies.policies);
  const own = policyHeaders(statuses, overallCode, policies);
  const responseHeaders: Header[] = [
    ...firstThree(decision, batch, verdicts, start, policies),
    ...own,
  ];
  const { value: retryAfter } = own.find(({ key }) => key === RETRY_AFTER) ?? {};
  const hasBody = policies.problemBody && overallCode !== 'OK';
  if (hasBody && policies.untypedBody !== true) responseHeaders.push(PROBLEM_HEADER);
  const rawBody = hasBody ? problemBody(statuses) : undefined;
  const limits = policies.figures === true ? toFigures(statuses) : undefined;
  // Without a spread of the decision, which takes longer than all of this.
  return {
    kind,
    overallCode,
    statuses: ofDescriptors,
    responseHeaders,
    retryAfter,
    rawBody,
    limits,
    dynamicMetadata,
  };
}

function toFigures(statuses: readonly PolicyStatus[]): readonly LimitFigures[] {
  const figures: LimitFigures[] = [];
  for (const status of statuses) {
    if (status.isShadow) continue;
    const { name, metric, limit, period, remaining, resetSeconds, isOver, isQuota } = status;
    const unit = periodText(period);
    figures.push({ name, metric, limit, unit, remaining, resetSeconds, isOver, isQuota });
  }
  return figures;
}

/** The headers of the reference, with LIMIT_RESET_JITTER. */
function firstThree(
  { responseHeaders }: Decision,
  { plan, options: { headers } }: BatchContext,
  verdicts: Verdicts,
  start: number,
  { jitterPercent }: PolicyOptions,
): readonly Header[] {
  if (headers === undefined || jitterPercent === 0) return responseHeaders;
  return limitHeaders(verdicts, headers, (seconds, index) => {
    const increment = plan.descriptorHits[start + index]?.increment ?? -1;
    return lengthen(seconds, plan.increments[increment]?.key ?? '', jitterPercent);
  });
}
