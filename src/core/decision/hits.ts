import type { DecisionRequest, RequestDescriptor } from '../model';

/** The largest addend that a store can add exactly (a signed 64-bit integer). */
export const MAX_HITS = 2n ** 63n - 1n;

/**
 * Hits that a descriptor takes (behaviour.md §3.3): its own when present, else the request's, where 0
 * means 1. Negative when it gives them back.
 */
export function hitsOf(request: DecisionRequest, descriptor: RequestDescriptor): number | bigint {
  const hits = descriptor.hits ?? (request.hitsAddend === 0 ? 1 : request.hitsAddend);
  return descriptor.isNegativeHits && hits !== 0 ? -hits : hits;
}
