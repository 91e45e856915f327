import type {
  RawHeader,
  RawRateLimitResponse,
  RawStatus,
  RawTime,
} from '../platform/rate-limit-response';
import { RateLimiterError } from './errors';

export type LimitUnit =
  'second' | 'minute' | 'hour' | 'day' | 'week' | 'month' | 'year' | 'unknown';

/** A limit after this call. */
export interface LimitStatus {
  /** The rule's `name`; empty when it has none. */
  readonly name: string;
  /** Hits per period. */
  readonly limit: number;
  /** `unknown`: for requests in flight, or for a period that the answer does not contain (UNIT_MULTIPLIER_ON_WIRE). */
  readonly unit: LimitUnit;
  /** Units per period: 5 for 100 in 5 minutes. */
  readonly unitMultiplier: number;
  readonly remaining: number;
  readonly resetSeconds: number;
  /** This limit refuses. */
  readonly limited: boolean;
}

/** The answer to one call. */
export interface RateLimitDecision {
  readonly allowed: boolean;
  /**
   * If refused, the refusing limit with the longest wait; if allowed, the limit with the least remaining. Undefined where no limit
   * applies or there is no decision.
   */
  readonly limit: number | undefined;
  readonly remaining: number | undefined;
  readonly resetSeconds: number | undefined;
  /** Headers for the response: those from the service (docs/endpoints.md), and `Retry-After` when refused. */
  readonly headers: Readonly<Record<string, string>>;
  /** The service's body for a refused client (LIMIT_BODY); undefined when it sent none. */
  readonly body: string | undefined;
  /** In the order of the descriptors; undefined where no limit applies. Empty without a decision. */
  readonly limits: readonly (LimitStatus | undefined)[];
  /** Why there is no decision: `allowed` is then the answer of `onError`. */
  readonly error: RateLimiterError | undefined;
}

const OVER = 'OVER_LIMIT';
const NO_FIGURES = { limit: undefined, remaining: undefined, resetSeconds: undefined };

/** `hits`: the hits of the call. */
export function readDecision(
  raw: RawRateLimitResponse,
  hits: number,
): RateLimitDecision | RateLimiterError {
  const { overallCode, statuses = [], responseHeadersToAdd = [], rawBody } = raw;
  if (overallCode !== 'OK' && overallCode !== OVER)
    return new RateLimiterError(
      'bad_answer',
      `the answer holds the code ${String(overallCode ?? 'UNKNOWN')}, expected OK or OVER_LIMIT`,
    );
  const allowed = overallCode === 'OK';
  const limits = statuses.map(toLimit);
  const { limit, remaining, resetSeconds } = findNearest(limits, allowed) ?? NO_FIGURES;
  const headers = toHeaders(responseHeadersToAdd);
  if (!allowed) addRetryAfter(headers, limits, hits);
  return {
    allowed,
    limit,
    remaining,
    resetSeconds,
    headers,
    body: rawBody === undefined ? undefined : Buffer.from(rawBody, 'base64').toString(),
    limits,
    error: undefined,
  };
}

/** The result of a call without a decision. */
export function withoutDecision(error: RateLimiterError, allowed: boolean): RateLimitDecision {
  const headers: Record<string, string> = allowed ? {} : { 'Retry-After': '1' };
  return { allowed, ...NO_FIGURES, headers, body: undefined, limits: [], error };
}

function toLimit(status: RawStatus): LimitStatus | undefined {
  const { code, currentLimit, limitRemaining = 0, durationUntilReset = {} } = status;
  if (currentLimit === undefined) return undefined;
  const { requestsPerUnit = 0, unit, name = '', unitMultiplier } = currentLimit;
  return {
    name,
    limit: requestsPerUnit,
    unit: typeof unit === 'string' ? (unit.toLowerCase() as LimitUnit) : 'unknown',
    unitMultiplier: unitMultiplier?.value ?? 1,
    remaining: limitRemaining,
    resetSeconds: toSeconds(durationUntilReset),
    limited: code === OVER,
  };
}

function toSeconds({ seconds = '0', nanos = 0 }: RawTime) {
  return Number(seconds) + Math.ceil(nanos / 1e9);
}

function findNearest(
  limits: RateLimitDecision['limits'],
  allowed: boolean,
): LimitStatus | undefined {
  let nearest: LimitStatus | undefined;
  for (const limit of limits) {
    if (limit === undefined || !(allowed || limit.limited)) continue;
    if (nearest === undefined || isNearer(limit, nearest, allowed)) nearest = limit;
  }
  return nearest;
}

function isNearer(one: LimitStatus, other: LimitStatus, allowed: boolean): boolean {
  return allowed ? one.remaining < other.remaining : one.resetSeconds > other.resetSeconds;
}

/** For services that do not send it (LIMIT_RETRY_AFTER). Omitted where waiting does not help. */
function addRetryAfter(
  headers: Record<string, string>,
  limits: RateLimitDecision['limits'],
  hits: number,
): void {
  if (headers['Retry-After'] !== undefined) return;
  const refusing = limits.filter((limit) => limit?.limited === true) as readonly LimitStatus[];
  if (refusing.length === 0 || refusing.some(({ limit }) => hits > limit)) return;
  const seconds = Math.max(1, ...refusing.map(({ resetSeconds }) => resetSeconds));
  headers['Retry-After'] = String(seconds);
}

/** RFC 9110, 5.6.2 and 5.5; anything else would fail the response that gets it. */
const NAME = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Headers by name; invalid ones are omitted. */
function toHeaders(headers: readonly RawHeader[]): Record<string, string> {
  const good = headers.filter(({ key = '', value = '' }) => NAME.test(key) && VALUE.test(value));
  // Defines own properties, so that __proto__ is an ordinary name.
  return Object.fromEntries(good.map(({ key = '', value = '' }) => [key, value]));
}
