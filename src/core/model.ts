import type { Unit } from './units';

/** Any JSON value; a rule's free-form `metadata` is one. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [name: string]: Json;
}

export interface Entry {
  readonly key: string;
  readonly value: string;
}

/** A limit that a request brings. `unit` is its number on the wire, checked by planning. */
export interface LimitOverride {
  readonly requestsPerUnit: number;
  readonly unit: number;
}

export interface RequestDescriptor {
  readonly entries: readonly Entry[];
  readonly limit: LimitOverride | undefined;
  /**
   * Hits of this descriptor alone; undefined: the request's; 0: a read. A bigint only where a number would lose digits (above 2^53
   * - 1).
   */
  readonly hits: number | bigint | undefined;
  /** Refunds the hits instead of adding them; a counter never falls below 0. */
  readonly isNegativeHits: boolean;
}

/** A RateLimitRequest as it came from a caller: well-formed, not yet checked for sense. */
export interface DecisionRequest {
  readonly domain: string;
  readonly descriptors: readonly RequestDescriptor[];
  /** uint32; 0 means 1. */
  readonly hitsAddend: number;
}

export type Code = 'OK' | 'OVER_LIMIT';

/** The limit that a status reports. */
export interface CurrentLimit {
  readonly requestsPerUnit: number;
  /** UNKNOWN: the period is several units, and Envoy knows no field for several. */
  readonly unit: Unit | 'UNKNOWN';
  /** The rule's `name`, empty when it has none. */
  readonly name: string;
  /** Number of units of the period, where UNIT_MULTIPLIER_ON_WIRE sends it; undefined: one, or not sent. */
  readonly unitMultiplier?: number | undefined;
}

export interface DescriptorStatus {
  readonly code: Code;
  /** Undefined when no rule matched, and for an unlimited rule. */
  readonly currentLimit: CurrentLimit | undefined;
  /** uint32; 0 when over, 4294967295 for an unlimited rule. */
  readonly limitRemaining: number;
  /** Whole seconds until the window ends; undefined where no window applies. */
  readonly secondsUntilReset: number | undefined;
}

export interface Header {
  readonly key: string;
  readonly value: string;
}

/** The figures of one limit of a request, for callers that use more than headers. */
export interface LimitFigures {
  /** The rule's `name`, empty when it has none. */
  readonly name: string;
  /** The metric key of the rule. */
  readonly metric: string;
  /** Hits per period. */
  readonly limit: number;
  /** The period in words: `minute`, `5 minutes`. */
  readonly unit: string;
  /** Undefined when the store failed. */
  readonly remaining: number | undefined;
  readonly resetSeconds: number;
  readonly isOver: boolean;
  /** One quota of several is enough to pass. */
  readonly isQuota: boolean;
}

/** The answer to one request: a RateLimitResponse in plain data. */
export interface Decision {
  readonly kind: 'decision';
  readonly overallCode: Code;
  /** One status per descriptor of the request, in its order. */
  readonly statuses: readonly DescriptorStatus[];
  readonly responseHeaders: readonly Header[];
  /** `Retry-After` for a caller that is the client itself; `responseHeaders` hold it too. Undefined: not sent. */
  readonly retryAfter?: string | undefined;
  /** The body for a refused client (LIMIT_BODY); undefined: none. */
  readonly rawBody?: string | undefined;
  /** Figures of each limit that can refuse the request, in the order of the descriptors; undefined: not requested. */
  readonly limits?: readonly LimitFigures[] | undefined;
  readonly dynamicMetadata: JsonObject | undefined;
}
