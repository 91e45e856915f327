/** What one status contributes to the time after which a client may retry. */
export interface WaitingStatus {
  readonly isOver: boolean;
  /** One quota of several that passes is enough; hard limits must all pass. */
  readonly isQuota: boolean;
  /** The charge is larger than the limit or the burst: waiting does not help. */
  readonly neverFits: boolean;
  /** Seconds until the charge would be admitted. */
  readonly resetSeconds: number;
  /** The counter key: equal keys and windows get the same share of jitter. */
  readonly key: string;
}

/**
 * Seconds for `Retry-After` when the overall code is OVER_LIMIT: the longest wait of the exceeded hard limits or, when only quotas
 * refuse, the shortest of theirs. Undefined where waiting does not help.
 */
export function retryAfterSeconds(
  statuses: readonly WaitingStatus[],
  jitterPercent: number,
): number | undefined {
  let longest = 0;
  let shortest = Infinity;
  for (const status of statuses) {
    const { isOver, isQuota, neverFits, resetSeconds, key } = status;
    if (!isOver || (isQuota && neverFits)) continue;
    if (neverFits) return undefined;
    const wait = Math.max(1, lengthen(resetSeconds, key, jitterPercent));
    if (isQuota) shortest = Math.min(shortest, wait);
    else longest = Math.max(longest, wait);
  }
  if (longest > 0) return longest;
  return shortest === Infinity ? undefined : shortest;
}

/** A wait of more than one second, lengthened by 0 to `percent` of it, so that clients do not all retry at once. */
export function lengthen(seconds: number, key: string, percent: number): number {
  if (seconds <= 1 || percent === 0) return seconds;
  return seconds + Math.floor((seconds * percent * shareOf(key)) / 100);
}

/** A share from 0 to below 1, by hash of a text: 32-bit FNV-1a, its upper half mixed with the lower. */
function shareOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1)
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}
