import type { Code, Header } from '../model';
import { policyNames, quoteName, type NamedPolicy } from './policy-name';
import { lengthen, retryAfterSeconds, type WaitingStatus } from './retry-after';

/** Items of one header, so that a request of many descriptors does not bring a page of them. */
const MAX_ITEMS = 8;

export const RETRY_AFTER = 'Retry-After';

/** A status as headers see it: of a rule that limits. */
export interface PolicyStatus extends NamedPolicy, WaitingStatus {
  /** The metric key of its rule. */
  readonly metric: string;
  /** True length of the current period; 0: none. */
  readonly periodSeconds: number;
  /** gcra alone. */
  readonly burst: number | undefined;
  /** Undefined when the store was away. */
  readonly remaining: number | undefined;
  /** It stops no request, so that no header speaks of it. */
  readonly isShadow: boolean;
  /** More than NEAR_LIMIT_RATIO of the limit is used after this ask. */
  readonly isNear: boolean;
}

export interface PolicyHeaderOptions {
  /** LIMIT_POLICY_HEADERS: `RateLimit-Policy` and `RateLimit` of no status, of the nearest to its limit, or of all. */
  readonly policies: 'off' | 'nearest' | 'all';
  /** LIMIT_RETRY_AFTER. */
  readonly retryAfter: boolean;
  /** LIMIT_NEAR_HEADER; empty: none. */
  readonly nearHeader: string;
  /** LIMIT_RESET_JITTER, 0 to 100. */
  readonly jitterPercent: number;
}

/** What one answer says of limits beside the three headers of the reference. */
export interface PolicyOptions extends PolicyHeaderOptions {
  /** LIMIT_BODY: a client that is over its limit gets a problem as its body. */
  readonly problemBody: boolean;
  /** The proxy sends its content type: one that does not enforce limits adds the headers of the answer to those of the upstream. */
  readonly untypedBody?: boolean;
  /** The decision has the figures of each limit. Default: false. */
  readonly figures?: boolean;
}

/** The headers of one answer that come after the three of the reference; its overall code is what is sent. */
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
  // Names go by the order of the descriptors, so that they do not change with the figures.
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

/** As the three headers of the reference choose: the least remaining, the first of equals; the last hard one that is over. */
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

/** Those that are over first, then those with the least share of their limit left; the first of equals. */
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
