import { policyHeaders, RETRY_AFTER } from '../core/decision/policy-headers';
import { PROBLEM_HEADER, problemBody } from '../core/decision/problem-body';
import { limitHeaders } from '../core/decision/response';
import { lengthen } from '../core/decision/retry-after';
import type { Decision, Header } from '../core/model';
import type { BatchContext, PolicyOptions, Verdicts } from './batch';
import { policyStatuses } from './policy-statuses';

/** The decision on a request whose asks begin at `start`, with the headers and the body that settings ask for beside the first three. */
export function withPolicies(
  decision: Decision,
  batch: BatchContext,
  verdicts: Verdicts,
  start: number,
  policies: PolicyOptions,
): Decision {
  const { overallCode } = decision;
  const statuses = policyStatuses(batch, verdicts, start);
  const own = policyHeaders(statuses, overallCode, policies);
  const responseHeaders: Header[] = [...firstThree(decision, batch, verdicts, start), ...own];
  const { value: retryAfter } = own.find(({ key }) => key === RETRY_AFTER) ?? {};
  const hasBody = policies.problemBody && overallCode !== 'OK';
  if (hasBody) responseHeaders.push(PROBLEM_HEADER);
  const rawBody = hasBody ? problemBody(statuses) : undefined;
  return { ...decision, responseHeaders, retryAfter, rawBody };
}

/** The headers of the reference, which LIMIT_RESET_JITTER is for too. */
function firstThree(
  { responseHeaders }: Decision,
  { plan, options: { headers, policies } }: BatchContext,
  verdicts: Verdicts,
  start: number,
): readonly Header[] {
  const percent = policies?.jitterPercent ?? 0;
  if (headers === undefined || percent === 0) return responseHeaders;
  return limitHeaders(verdicts, headers, (seconds, index) => {
    const increment = plan.descriptorHits[start + index]?.increment ?? -1;
    return lengthen(seconds, plan.increments[increment]?.key ?? '', percent);
  });
}
