import type { Windows } from './windows';
import type { Rules } from '../rules/rules';
import { validateRequest } from '../decision/request';
import type { DecisionRequest } from '../model';
import type { Increment } from '../ports';
import { planBatch, type PlanOptions } from './plan';

/**
 * The counters in which a request would count, one for each descriptor; undefined where no limit applies and under an unlimited
 * rule. A string: why the request is invalid.
 */
export function findCounters(
  rules: Rules,
  request: DecisionRequest,
  windows: Windows,
  { keyPrefix, limitsFrom }: Pick<PlanOptions, 'keyPrefix' | 'limitsFrom'>,
): readonly (Increment | undefined)[] | string {
  const fault = validateRequest(request);
  if (fault !== undefined) return fault;
  // Counters that are decided together are planned one by one.
  const options = { keyPrefix, limitsFrom, ttlJitterSeconds: 0, holdBack: true };
  const { descriptorHits, increments } = planBatch(rules, [request], windows, options, () => 0);
  return descriptorHits.map((hit) => (hit === undefined ? undefined : increments[hit.increment]));
}
