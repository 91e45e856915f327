import type { DecisionRequest, RequestDescriptor } from '../model';
import { unitOfNumber } from '../units';
import { MAX_HITS } from './hits';

/** What makes a well-formed request senseless (behaviour.md §2.8, §3.3, §4.7); undefined when nothing does. */
export function faultOf(request: DecisionRequest): string | undefined {
  if (request.domain === '') return 'rate limit domain must not be empty';
  if (request.descriptors.length === 0) return 'rate limit descriptor list must not be empty';
  for (const descriptor of request.descriptors) {
    if (descriptor.limit !== undefined || typeof descriptor.hits === 'bigint') {
      const fault = faultOfDescriptor(descriptor);
      if (fault !== undefined) return fault;
    }
  }
  return undefined;
}

function faultOfDescriptor({ limit, hits }: RequestDescriptor): string | undefined {
  if (limit !== undefined && unitOfNumber(limit.unit) === undefined)
    return `limit of a descriptor has the unit ${String(limit.unit)}, which is not one of 1 (SECOND) to 7 (WEEK)`;
  if (typeof hits === 'bigint' && hits > MAX_HITS)
    return `hits_addend ${String(hits)} of a descriptor is above ${String(MAX_HITS)}`;
  return undefined;
}
