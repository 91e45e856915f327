/*
 * The messages of ShouldRateLimit as plain data. They have the shape of `src/core/model.ts`, so that a
 * transport passes them on unchanged; wire keeps its own types because it imports nothing.
 */

export interface WireEntry {
  readonly key: string;
  readonly value: string;
}

export interface WireLimitOverride {
  readonly requestsPerUnit: number;
  /** The enum's number (int32), known or not. */
  readonly unit: number;
}

export interface WireDescriptor {
  readonly entries: readonly WireEntry[];
  readonly limit: WireLimitOverride | undefined;
  /** uint64; a bigint above 2^53 - 1, undefined when absent. */
  readonly hits: number | bigint | undefined;
  readonly isNegativeHits: boolean;
}

/** envoy.service.ratelimit.v3.RateLimitRequest. */
export interface WireRequest {
  readonly domain: string;
  readonly descriptors: readonly WireDescriptor[];
  readonly hitsAddend: number;
}

export type WireUnit = 'UNKNOWN' | 'SECOND' | 'MINUTE' | 'HOUR' | 'DAY' | 'WEEK' | 'MONTH' | 'YEAR';

export interface WireStatus {
  readonly code: 'OK' | 'OVER_LIMIT';
  readonly currentLimit:
    | {
        readonly requestsPerUnit: number;
        readonly unit: WireUnit;
        readonly name: string;
        /** uint32, above 0; undefined: absent. */
        readonly unitMultiplier?: number | undefined;
      }
    | undefined;
  readonly limitRemaining: number;
  readonly secondsUntilReset: number | undefined;
}

export type WireJson = null | boolean | number | string | readonly WireJson[] | WireStruct;
export interface WireStruct {
  readonly [name: string]: WireJson;
}

/** envoy.service.ratelimit.v3.RateLimitResponse. */
export interface WireResponse {
  readonly overallCode: 'OK' | 'OVER_LIMIT';
  readonly statuses: readonly WireStatus[];
  readonly responseHeaders: readonly { readonly key: string; readonly value: string }[];
  /** Sent in UTF-8. */
  readonly rawBody?: string | undefined;
  readonly dynamicMetadata: WireStruct | undefined;
}

/** The largest request that is accepted. */
export interface WireBounds {
  readonly maxDescriptors: number;
  /** Per descriptor. */
  readonly maxEntries: number;
  /** For a domain and for a key. */
  readonly maxNameBytes: number;
  readonly maxValueBytes: number;
}
