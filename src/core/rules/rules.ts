import type { CurrentLimit, JsonObject } from '../model';
import type { Limiter } from '../kinds/kind';
import type { Unit } from '../units';
import type { CalendarPeriod } from '../windows/calendar';
import type { WindowAt } from '../windows/length';
import type { FoundZone } from '../windows/zone-data';
import type { KeyTemplate } from './key-template';
import type { LimitsFromDefinition, OnStoreError, RulePlace } from './definition';
import type { Secrets } from './secrets';
import type { WildcardIndex } from './wildcards';

/** The compiled limit of a rule. Immutable; shared by every request that matches it. */
export interface RuleLimit {
  /** What a status reports; one shared object per rule. */
  readonly current: CurrentLimit;
  readonly requestsPerUnit: number;
  readonly unit: Unit;
  readonly unlimited: boolean;
  readonly name: string;
  readonly replaces: readonly string[];
  readonly shadowMode: boolean;
  readonly quotaMode: boolean;
  readonly detailedMetric: boolean;
  readonly metadata: JsonObject | undefined;
  /** Undefined: the service's default. */
  readonly onStoreError: OnStoreError | undefined;
  /** The part of the metric key that the rule file alone determines: `shop.user_ann.path`. */
  readonly metric: string;
  readonly domain: string;
  /** How it is counted. */
  readonly limiter: Limiter;
  /** Its counters are in the store for per-second limits, if there is one; for several limits the longest decides. */
  readonly isPerSecond: boolean;
  /** For windows that are not one unit long, and for calendar periods; undefined: the window of `unit`. */
  readonly windowAt?: WindowAt | undefined;
  /** Length of its period; undefined: periods of a calendar differ in length. */
  readonly periodSeconds?: number | undefined;
  /** For calendar periods: the rule's fields, for texts; `windowAt` finds their windows. */
  readonly calendar?: CalendarPeriod | undefined;
  /** Values may have limits of their own; this one applies to those without, and while theirs is unknown. */
  readonly limitsFrom?: LimitsFromRule | undefined;
  /** For a value's own limit: the rule's limit. */
  readonly ofRule?: RuleLimit | undefined;
  /** For a rule with a budget: its limits; the fields of this object are those of the longest period. */
  readonly budget?: BudgetLimits | undefined;
  /** What the last entry of its descriptors, the id of a reservation, does. */
  readonly reservation?: 'reserve' | 'settle' | undefined;
  /** Its hits may be charged in advance and spent later (docs/stores/leases.md). */
  readonly isLeased?: boolean | undefined;
}

/** The limits of a rule with a budget, in the order of the rule. */
export interface BudgetLimits {
  /** All limits of the rule, also those that do not apply to a request. */
  readonly entries: readonly RuleLimit[];
  /** `entries`, with undefined in place of those that do not apply. */
  readonly chosen: readonly (RuleLimit | undefined)[];
  /** Their names in statistics and for operators: `hour`, `day_gcra`, `daily`. */
  readonly names: readonly string[];
  /** The same rule with these in place of `chosen`. Undefined: none is left. */
  readonly withEntries: (entries: readonly (RuleLimit | undefined)[]) => RuleLimit | undefined;
}

/** Whether the limit at this index applies to the request: no other rule replaces it, and its value does not lift it. */
export function isHolding({ chosen }: BudgetLimits, at: number): boolean {
  return chosen[at] !== undefined;
}

/** Whether several limits apply. */
export function hasSeveral({ chosen }: BudgetLimits): boolean {
  let count = 0;
  for (const one of chosen) if (one !== undefined) count += 1;
  return count > 1;
}

/** The content of a field of the hash. */
export type ValueLimit = number | 'unlimited';

/** The source of the limits of a rule's values, and how they apply. */
export interface LimitsFromRule extends LimitsFromDefinition {
  /** Equal for rules with the same source: they share its cache. */
  readonly id: string;
  /** The hash is in the store for per-second limits, if there is one. */
  readonly isPerSecond: boolean;
  /** The largest limit that the rule can count. */
  readonly maxLimit: number;
  /** The field to read; undefined: the value of the last entry. */
  readonly field: string | undefined;
  /** The rule's limit with the content of a field in place of `requests_per_unit`. */
  readonly limitFor: (valueLimit: ValueLimit) => RuleLimit;
}

/** One descriptor entry of the rules: its limit and its children. */
export interface RuleNode extends KeyTemplate {
  readonly limit: RuleLimit | undefined;
  readonly children: RuleLevel | undefined;
  /** The wildcard pattern that replaces the value in counter keys; undefined: the value itself. */
  readonly sharedPattern: string | undefined;
  /** The segment of this level in a metric key without runtime values. */
  readonly segment: string;
  readonly valueToMetric: boolean;
  /** Whether a level from the top to here adds a runtime value to the metric key (`value_to_metric`). */
  readonly dynamicMetric: boolean;
  /** Whether a level from the top to here has `share_threshold`. */
  readonly isOnSharedPath: boolean;
}

/** The entries of one level with the same key. */
export interface KeyRules {
  readonly key: string;
  readonly byValue: ReadonlyMap<string, RuleNode> | undefined;
  readonly wildcards: WildcardIndex<RuleNode> | undefined;
  readonly anyValue: RuleNode | undefined;
}

/**
 * The entries of one level, by key. Most levels have a single key and are its rules directly, because a map costs several cache
 * misses once there are thousands of rules.
 */
export type RuleLevel = KeyRules | Map<string, KeyRules>;

export interface DomainRules {
  readonly domain: string;
  /** A refused request charges no counter of these rules. */
  readonly isChargedTogether: boolean;
  readonly top: RuleLevel;
  /** The secrets of the whole rule set; undefined when no key is secret. */
  readonly secrets?: Secrets | undefined;
}

/** One complete, immutable set of rules. */
export interface Rules {
  readonly domains: ReadonlyMap<string, DomainRules>;
  /** Number of rules with limits, for logs and `/rlconfig`. */
  readonly limitCount: number;
  /** Whether a limit has `limits_from`: most rule sets have none, and then no descriptor is looked up. */
  readonly hasLimitsFrom: boolean;
  /** Whether a domain charges its requests together; rare. */
  readonly hasTogether: boolean;
  /** Whether a rule has a budget; rare. */
  readonly hasBudgets: boolean;
  /** Where rules are written. Kept outside of the nodes, so that matching reads less memory. */
  readonly places: ReadonlyMap<RuleNode, RulePlace>;
  /** Undefined when no key is secret. */
  readonly secrets?: Secrets | undefined;
  /** The zones of its calendars, by name; empty where they come from the runtime. */
  readonly zones?: ReadonlyMap<string, FoundZone>;
}

/** The index of the limit with this name among those of its rule; undefined: no name given, or the rule has no such limit. */
export function placeOfLimit({ budget }: RuleLimit, limit: string | undefined): number | undefined {
  const at = limit === undefined ? -1 : (budget?.names.indexOf(limit) ?? -1);
  return at === -1 ? undefined : at;
}
