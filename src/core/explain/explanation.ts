import type { Code } from '../model';
import type { ValueLimit } from '../rules/rules';
import type { Unit } from '../units';

/** Why a descriptor matches no limit; stable words. */
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
  /** The names that the hint mentions, nearest first, at most 20. */
  readonly names?: readonly string[];
  /** The request has a limit of its own, which does not apply either. */
  readonly also?: 'override_ignored';
}

/** One level of a descriptor and the rule that it matched. */
export interface LevelExplanation {
  readonly entry: string;
  readonly matched: 'value' | 'wildcard' | 'any value';
  readonly rule: string;
  /** `shop.yaml:8:5`; for a management server the resource and the path in it. */
  readonly at?: string;
  /** Rules that match too but come after this one, at most 20. */
  readonly passedOver?: readonly PassedOver[];
}

export interface PassedOver {
  readonly rule: string;
  readonly at?: string;
  readonly why: string;
}

/** How the rules match a descriptor, before anything is counted. */
export interface PathExplanation {
  readonly path: readonly LevelExplanation[];
  /** Undefined where a limit applies. */
  readonly noLimit?: NoLimit;
  /** Another order of the entries that matches a limit. */
  readonly order?: string;
  /** A value that is probably not what the proxy was meant to send: a path with its query where the rule has none. */
  readonly sent?: string;
}

/** The source of a value's limit: `limits_from` of its rule. */
export interface LimitSource {
  /** The key of the hash. */
  readonly key: string;
  readonly field: string;
  /** Absent: the hash has no limit for it, or cannot be read; then the limit of the rule applies. */
  readonly value?: ValueLimit;
}

/** One of the limits of a rule that has `rate_limits`, reservations or blocks. */
export interface EntryExplanation {
  /** Its name in statistics: `hour`, `day_gcra`, `daily`. */
  readonly name: string;
  readonly requestsPerUnit: number;
  /** UNKNOWN: a limit of requests in flight. */
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
  /** For calendar periods, the time zone data in use: `2026f of Weir`. */
  readonly timeZoneData?: string;
  readonly limits?: readonly EntryExplanation[];
  readonly shadowMode: boolean;
  readonly quotaMode: boolean;
  readonly name?: string;
  /** The limit comes from the request, not from a rule. */
  readonly source?: 'request';
  readonly limitsFrom?: LimitSource;
  readonly at?: string;
  /** What its rule has from overlays, for people: `algorithm, burst by the overlay at overlays.yaml:3`. */
  readonly overlays?: readonly string[];
}

export interface CounterExplanation extends Partial<BudgetFields> {
  readonly key: string;
  /** Where it is stored: `Redis at r1:6379 (slot 1234)`. */
  readonly store: string;
  /** Absent when it could not be read. */
  readonly count?: number;
  readonly expiresInSeconds?: number;
  /** The local cache of this instance has it as over its limit. */
  readonly cachedOverLimit: boolean;
  /** Hits left of those that this instance has on lease; absent: it has none. */
  readonly lease?: { readonly left: number; readonly of: number };
  /** Why it could not be read. */
  readonly error?: string;
}

export interface DescriptorExplanation extends PathExplanation {
  readonly entries: readonly string[];
  readonly limit?: LimitExplanation;
  readonly metric?: string;
  readonly counter?: CounterExplanation;
  /** The answer that a request would get now. */
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

/** The answer that a request would get, and why. */
export interface Explanation {
  /** Absent where the store did not answer and no `on_store_error` applies. */
  readonly overallCode?: Code;
  readonly because: string;
  /** The domain charges all counters of a request, or none while one refuses; absent: each counter alone. */
  readonly charge?: 'together';
  readonly rules?: RulesVersion;
  readonly descriptors: readonly DescriptorExplanation[];
  readonly responseHeaders: readonly (readonly [name: string, value: string])[];
}

/** What operators see of a counter of a rule with a budget, besides hits in use (budgets.md section 9). */
export interface BudgetFields {
  readonly limits: readonly LimitStanding[];
  /** Hits that open reservations hold, and the number of open ones; absent for a rule without reservations. */
  readonly held?: number;
  readonly open?: number;
  /** Age of the open reservation that expires first, by the rule's current lease; absent while none is open. */
  readonly oldestSeconds?: number;
  /** Refusals counted for the next block; absent while there are none. */
  readonly strikes?: number;
  /** Seconds until the last block ends; absent while it is not blocked. */
  readonly blockedSeconds?: number;
}

export interface LimitStanding {
  /** Its name in statistics: `hour`, `day_gcra`. */
  readonly name: string;
  readonly remaining: number;
  readonly resetSeconds: number;
}
