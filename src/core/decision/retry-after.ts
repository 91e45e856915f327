/** How one status bears on the time after which a client may try again. */
export interface WaitingStatus {
  readonly isOver: boolean;
  /** One quota of several is enough to pass; all hard limits have to be. */
  readonly isQuota: boolean;
  /** The ask is larger than the limit or the burst: waiting does not help. */
  readonly neverFits: boolean;
  /** Seconds until the ask would be admitted. */
  readonly resetSeconds: number;
  /** The counter key: what is lengthened is so by the same share for the same counter and window. */
  readonly key: string;
}

/**
 * Seconds for `Retry-After` of a request whose overall code is OVER_LIMIT: the longest of the hard limits that are over
 * or, when quotas alone stop it, the shortest of these. Undefined where waiting does not help.
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

/** More than one second, lengthened by 0 to `percent` of it, so that clients do not all come back at once. */
export function lengthen(seconds: number, key: string, percent: number): number {
  if (seconds <= 1 || percent === 0) return seconds;
  return seconds + Math.floor((seconds * percent * shareOf(key)) / 100);
}

/** A share from 0 to below 1 for a text: 32-bit FNV-1a, whose upper half is then mixed with the lower. */
function shareOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1)
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}
