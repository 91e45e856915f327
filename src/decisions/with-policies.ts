import {
  policyHeaders,
  RETRY_AFTER,
  type PolicyOptions,
  type PolicyStatus,
  policyNames,
  type NamedPolicy,
  lengthen,
} from '../core/decision/policy-headers';
import { limitHeaders } from '../core/decision/response';
import type { Decision, Header, LimitFigures } from '../core/model';
import { periodText } from '../core/rules/describe-limit';
import type { BatchContext, Verdicts } from './batch';
import { policyStatuses } from './policy-statuses';

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
