import type { DecisionRequest, RequestDescriptor } from '../model';
import { unitOfNumber } from '../units';

/** Bounds of one request. Decoders refuse larger ones with INVALID_ARGUMENT (400 on /json). */
export interface RequestBounds {
  readonly maxDescriptors: number;
  readonly maxEntries: number;
  /** Bytes of a domain and of an entry's key, in UTF-8. */
  readonly maxNameBytes: number;
  /** Bytes of an entry's value, in UTF-8. */
  readonly maxValueBytes: number;
}

export const DEFAULT_REQUEST_BOUNDS: RequestBounds = {
  maxDescriptors: 256,
  maxEntries: 64,
  maxNameBytes: 1_024,
  maxValueBytes: 65_536,
};

/** The largest addend that a store can add exactly (a signed 64-bit integer). */
export const MAX_HITS = 2n ** 63n - 1n;

/** The hits of a descriptor (behaviour.md §3.3): its own when present, else the request's, where 0 means 1. Negative for a refund. */
export function hitsOf(request: DecisionRequest, descriptor: RequestDescriptor): number | bigint {
  const hits = descriptor.hits ?? (request.hitsAddend === 0 ? 1 : request.hitsAddend);
  return descriptor.isNegativeHits && hits !== 0 ? -hits : hits;
}

/** Why a well-formed request is invalid (behaviour.md §2.8, §3.3, §4.7); undefined when it is valid. */
export function validateRequest(request: DecisionRequest): string | undefined {
  if (request.domain === '') return 'rate limit domain must not be empty';
  if (request.descriptors.length === 0) return 'rate limit descriptor list must not be empty';
  for (const descriptor of request.descriptors) {
    if (descriptor.limit !== undefined || typeof descriptor.hits === 'bigint') {
      const fault = validateDescriptor(descriptor);
      if (fault !== undefined) return fault;
    }
  }
  return undefined;
}

function validateDescriptor({ limit, hits }: RequestDescriptor): string | undefined {
  if (limit !== undefined && unitOfNumber(limit.unit) === undefined)
    return `limit of a descriptor has the unit ${String(limit.unit)}, which is not one of 1 (SECOND) to 7 (WEEK)`;
  if (typeof hits === 'bigint' && hits > MAX_HITS)
    return `hits_addend ${String(hits)} of a descriptor is above ${String(MAX_HITS)}`;
  return undefined;
}
