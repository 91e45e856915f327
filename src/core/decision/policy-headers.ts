import type { Code, Header } from '../model';
import { periodText } from '../rules/describe-limit';
import type { UnitCount } from '../windows/length';

const MAX_NAME_CHARACTERS = 64;

/** What names the policy of a rule towards clients. */
export interface NamedPolicy {
  /** The rule's `name`, empty when it has none. */
  readonly name: string;
  /** Hits per period. */
  readonly limit: number;
  /** The period in the words of its name. */
  readonly period: UnitCount;
}

/** The names of policies in one response, in plain characters; a repeated name gets a suffix: `name-2`. */
export function policyNames(policies: readonly NamedPolicy[]): readonly string[] {
  const taken = new Set<string>();
  return policies.map((policy) => {
    const plain = plainName(policy);
    let name = plain;
    for (let number = 2; taken.has(name); number += 1) name = `${plain}-${String(number)}`;
    taken.add(name);
    return name;
  });
}

/** A name as a string of structured fields. */
function quoteName(name: string): string {
  return `"${name.replace(/["\\]/g, '\\$&')}"`;
}

/** At most 64 characters that structured fields allow in a string (RFC 9651, 3.3.3), not yet escaped. */
function plainName({ name, limit, period }: NamedPolicy): string {
  if (name !== '') return name.replace(/[^ -~]/gu, '_').slice(0, MAX_NAME_CHARACTERS);
  return `${String(limit)}-per-${periodText(period).replace(' ', '-')}`;
}

/** Items per header: a request of many descriptors must not get a page of them. */
const MAX_ITEMS = 8;

export const RETRY_AFTER = 'Retry-After';

/** A status as the headers need it; only of rules that limit. */
export interface PolicyStatus extends NamedPolicy, WaitingStatus {
  /** The metric key of its rule. */
  readonly metric: string;
  /** True length of the current period; 0: none. */
  readonly periodSeconds: number;
  /** For gcra only. */
  readonly burst: number | undefined;
  /** Undefined when the store failed. */
  readonly remaining: number | undefined;
  /** It refuses no request: headers do not mention it. */
  readonly isShadow: boolean;
  /** More than NEAR_LIMIT_RATIO of the limit is used after this request. */
  readonly isNear: boolean;
}

export interface PolicyHeaderOptions {
  /** LIMIT_POLICY_HEADERS: `RateLimit-Policy` and `RateLimit` for no status, for the nearest to its limit, or for all. */
  readonly policies: 'off' | 'nearest' | 'all';
  /** LIMIT_RETRY_AFTER. */
  readonly retryAfter: boolean;
  /** LIMIT_NEAR_HEADER; empty: none. */
  readonly nearHeader: string;
  /** LIMIT_RESET_JITTER, 0 to 100. */
  readonly jitterPercent: number;
}

/** What one answer says about limits, beside the three headers of the reference. */
export interface PolicyOptions extends PolicyHeaderOptions {
  /** LIMIT_BODY: a refused client gets a problem document as its body. */
  readonly problemBody: boolean;
  /**
   * The proxy sets the content type itself: one that does not enforce limits adds the answer's headers to those of the upstream.
   */
  readonly untypedBody?: boolean;
  /** The decision carries the figures of each limit. Default: false. */
  readonly figures?: boolean;
}

/** The headers of one answer after the three of the reference; `overall`: the overall code as sent. */
export function policyHeaders(
  all: readonly PolicyStatus[],
  overall: Code,
  options: PolicyHeaderOptions,
): Header[] {
  const { policies, nearHeader, jitterPercent } = options;
  const statuses = all.filter(({ isShadow }) => !isShadow);
  const headers: Header[] = [];
  if (policies !== 'off') addPolicies(headers, statuses, policies, jitterPercent);
  if (overall === 'OVER_LIMIT') {
    const seconds = options.retryAfter ? retryAfterSeconds(statuses, jitterPercent) : undefined;
    if (seconds !== undefined) headers.push({ key: RETRY_AFTER, value: String(seconds) });
  } else if (nearHeader !== '' && statuses.some(({ isNear }) => isNear)) {
    headers.push({ key: nearHeader, value: '1' });
  }
  return headers;
}

function addPolicies(
  headers: Header[],
  statuses: readonly PolicyStatus[],
  policies: 'nearest' | 'all',
  jitterPercent: number,
): void {
  const chosen = policies === 'all' ? tightest(statuses) : nearest(statuses);
  if (chosen.length === 0) return;
  // Names follow the order of the descriptors, so that they do not change with the figures.
  const inOrder = chosen.toSorted((a, b) => a - b);
  const names = policyNames(inOrder.map((index) => statuses[index] as PolicyStatus));
  const limits: string[] = [];
  const figures: string[] = [];
  for (const index of chosen) {
    const status = statuses[index] as PolicyStatus;
    const name = quoteName(names[inOrder.indexOf(index)] as string);
    limits.push(name + limitOf(status));
    if (status.remaining !== undefined) figures.push(name + figuresOf(status, jitterPercent));
  }
  headers.push({ key: 'RateLimit-Policy', value: limits.join(', ') });
  if (figures.length > 0) headers.push({ key: 'RateLimit', value: figures.join(', ') });
}

function limitOf({ limit, periodSeconds, burst }: PolicyStatus): string {
  const quota = `;q=${String(limit)}`;
  // Requests in flight have no window.
  const window = periodSeconds === 0 ? quota : `${quota};w=${String(periodSeconds)}`;
  return burst === undefined ? window : `${window};weir-burst=${String(burst)}`;
}

function figuresOf({ remaining, resetSeconds, key }: PolicyStatus, jitterPercent: number): string {
  const seconds = lengthen(resetSeconds, key, jitterPercent);
  const figure = `;r=${String(remaining)}`;
  return seconds === 0 ? figure : `${figure};t=${String(seconds)}`;
}

/**
 * The same choice as the three headers of the reference: the least remaining, on a tie the first; the last hard limit that is over.
 */
function nearest(statuses: readonly PolicyStatus[]): readonly number[] {
  let chosen = -1;
  let least = Infinity;
  statuses.forEach((status, index) => {
    const remaining = remainingOf(status);
    if (remaining >= least && !(status.isOver && !status.isQuota)) return;
    chosen = index;
    least = remaining;
  });
  return chosen === -1 ? [] : [chosen];
}

/** Exceeded limits first, then by the share left, ascending; on a tie in their order. */
function tightest(statuses: readonly PolicyStatus[]): readonly number[] {
  const chosen: number[] = [];
  const shares = statuses.map(shareLeft);
  const shareAt = (index: number): number => shares[index] as number;
  for (let index = 0; index < statuses.length; index += 1) {
    let place = chosen.length;
    while (place > 0 && shareAt(chosen[place - 1] as number) > shareAt(index)) place -= 1;
    if (place === MAX_ITEMS) continue;
    chosen.splice(place, 0, index);
    if (chosen.length > MAX_ITEMS) chosen.pop();
  }
  return chosen;
}

function shareLeft(status: PolicyStatus): number {
  if (status.isOver) return -1;
  return status.limit === 0 ? 0 : remainingOf(status) / status.limit;
}

function remainingOf({ remaining, isOver, limit }: PolicyStatus): number {
  return remaining ?? (isOver ? 0 : limit);
}

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
