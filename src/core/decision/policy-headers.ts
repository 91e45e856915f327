import type { Code, Header } from '../model';
import { policyNames, quoteName, type NamedPolicy } from './policy-name';
import { lengthen, retryAfterSeconds, type WaitingStatus } from './retry-after';

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
