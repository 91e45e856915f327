import type { BudgetFields } from './budget-fields';
import type { Code } from '../model';
import type { ValueLimit } from '../rules/rules';
import type { Unit } from '../units';

/** Why a descriptor meets no limit; stable words. */
export type NoLimitReason =
  | 'unknown_domain'
  | 'no_entry_for_key'
  | 'no_entry_for_value'
  | 'too_deep'
  | 'too_shallow'
  | 'no_backtracking'
  | 'rule_has_no_limit'
  | 'unlimited'
  | 'replaced';

export interface NoLimit {
  readonly reason: NoLimitReason;
  /** The level of the descriptor at which matching ended, from 1. */
  readonly level?: number;
  /** A sentence for a person: what would match. */
  readonly hint: string;
  /** The names that the hint speaks of, nearest first, at most 20. */
  readonly names?: readonly string[];
  /** The request brought a limit of its own, which does not apply either. */
  readonly also?: 'override_ignored';
}

/** One level of a descriptor and the rule that it met. */
export interface LevelExplanation {
  readonly entry: string;
  readonly matched: 'value' | 'wildcard' | 'any value';
  readonly rule: string;
  /** `shop.yaml:8:5`; of a management server the resource and the path in it. */
  readonly at?: string;
  /** Rules that match too and stand after this one, at most 20. */
  readonly passedOver?: readonly PassedOver[];
}

export interface PassedOver {
  readonly rule: string;
  readonly at?: string;
  readonly why: string;
}

/** How the rules see a descriptor, before anything is counted. */
export interface PathExplanation {
  readonly path: readonly LevelExplanation[];
  /** Undefined where a limit applies. */
  readonly noLimit?: NoLimit;
  /** Another order of the entries that meets a limit. */
  readonly order?: string;
  /** A value that is hardly what the proxy was meant to send: a path with its query where the rule has none. */
  readonly sent?: string;
}

/** Where a value's limit comes from: `limits_from` of its rule. */
export interface LimitSource {
  /** The key of the hash. */
  readonly key: string;
  readonly field: string;
  /** Absent: it holds no limit, or cannot be read, and the limit of the rule holds. */
  readonly value?: ValueLimit;
}

/** One of the limits of a rule that has `rate_limits`, reservations or blocks. */
export interface EntryExplanation {
  /** As statistics call it: `hour`, `day_gcra`, `daily`. */
  readonly name: string;
  readonly requestsPerUnit: number;
  /** UNKNOWN: of requests in flight. */
  readonly unit: Unit | 'UNKNOWN';
  readonly algorithm: string;
  readonly words: string;
}

export interface LimitExplanation extends Pick<
  EntryExplanation,
  'requestsPerUnit' | 'unit' | 'algorithm'
> {
  /** The limit in words where it is more than hits per unit: `600 per 5 minutes, bursts of 20`. */
  readonly words?: string;
  /** Of calendar periods, the data that they follow: `2026f of Weir`. */
  readonly timeZoneData?: string;
  readonly limits?: readonly EntryExplanation[];
  readonly shadowMode: boolean;
  readonly quotaMode: boolean;
  readonly name?: string;
  /** The limit is the request's own, not one of a rule. */
  readonly source?: 'request';
  readonly limitsFrom?: LimitSource;
  readonly at?: string;
}

export interface CounterExplanation extends Partial<BudgetFields> {
  readonly key: string;
  /** Where it lies: `Redis at r1:6379 (slot 1234)`. */
  readonly store: string;
  /** Absent when it could not be read. */
  readonly count?: number;
  readonly expiresInSeconds?: number;
  /** The local cache of this instance knows it to be over. */
  readonly cachedOverLimit: boolean;
  /** Of the hits that this instance has on lease, so many are left; missing: it has none. */
  readonly lease?: { readonly left: number; readonly of: number };
  /** Why it could not be read. */
  readonly error?: string;
}

export interface DescriptorExplanation extends PathExplanation {
  readonly entries: readonly string[];
  readonly limit?: LimitExplanation;
  readonly metric?: string;
  readonly counter?: CounterExplanation;
  /** What a request would be answered now. */
  readonly ifAsked?: {
    readonly hits: number;
    readonly code: Code;
    readonly remaining: number;
    readonly resetSeconds?: number;
  };
  readonly notes?: readonly string[];
}

export interface RulesVersion {
  /** `sha256:` and the digest of contents and relative names. */
  readonly version: string;
  /** RFC 3339. */
  readonly loadedAt: string;
  readonly source: 'files' | 'xds';
}

/** What a request would be answered and why. */
export interface Explanation {
  /** Absent where the store did not answer and no `on_store_error` does. */
  readonly overallCode?: Code;
  readonly because: string;
  /** The domain charges all counters of a request, or none while one refuses; absent: each by itself. */
  readonly charge?: 'together';
  readonly rules?: RulesVersion;
  readonly descriptors: readonly DescriptorExplanation[];
  readonly responseHeaders: readonly (readonly [name: string, value: string])[];
}
