import type { CurrentLimit, JsonObject } from '../model';
import type { Gate } from '../kinds/kind';
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
  /** Undefined: what the service does by default. */
  readonly onStoreError: OnStoreError | undefined;
  /** The metric key as far as the rule file alone tells it: `shop.user_ann.path`. */
  readonly metric: string;
  readonly domain: string;
  /** How it is counted. */
  readonly gate: Gate;
  /** Its counters lie in the store of limits per second, where there is one; of several limits that of the longest says it. */
  readonly isPerSecond: boolean;
  /** Of windows that are not one unit long, and of calendar periods; undefined: the window of `unit`. */
  readonly windowAt?: WindowAt | undefined;
  /** Length of its period; undefined: periods of a calendar differ in length. */
  readonly periodSeconds?: number | undefined;
  /** Of calendar periods: how the rule says them, for texts; `windowAt` finds their windows. */
  readonly calendar?: CalendarPeriod | undefined;
  /** Values may have limits of their own; this one is for those that have none, or whose limit is not known yet. */
  readonly limitsFrom?: LimitsFromRule | undefined;
  /** Of a limit that a value has of its own: the one that the rule has. */
  readonly ofRule?: RuleLimit | undefined;
  /** Of a rule with a budget: its limits; what this limit says itself is that of the longest period. */
  readonly budget?: BudgetLimits | undefined;
  /** What the last entry of its descriptors does, which is the id of a reservation. */
  readonly reservation?: 'reserve' | 'settle' | undefined;
  /** Its hits may be charged in advance and spent later (docs/leases.md). */
  readonly isLeased?: boolean | undefined;
}

/** The limits of a rule with a budget, in the order of the rule. */
export interface BudgetLimits {
  /** All limits that the rule says, those too that do not hold for a request. */
  readonly entries: readonly RuleLimit[];
  /** The same, with undefined in place of those that do not hold. */
  readonly chosen: readonly (RuleLimit | undefined)[];
  /** What statistics and operators call all of them: `hour`, `day_gcra`, `daily`. */
  readonly names: readonly string[];
  /** The same rule with these in place of `chosen`. Undefined: none is left. */
  readonly withEntries: (entries: readonly (RuleLimit | undefined)[]) => RuleLimit | undefined;
}

/** Whether the limit at this place holds for the request: no other rule replaces it, and its value does not lift it. */
export function isHolding({ chosen }: BudgetLimits, at: number): boolean {
  return chosen[at] !== undefined;
}

/** Whether several limits hold. */
export function hasSeveral({ chosen }: BudgetLimits): boolean {
  let count = 0;
  for (const one of chosen) if (one !== undefined) count += 1;
  return count > 1;
}

/** What a field of the hash says. */
export type ValueLimit = number | 'unlimited';

/** Where the limits of a rule's values stand, and what becomes of them. */
export interface LimitsFromRule extends LimitsFromDefinition {
  /** Equal for rules that read the same: they share what was read. */
  readonly id: string;
  /** The hash lies in the store of limits per second, where there is one. */
  readonly isPerSecond: boolean;
  /** The largest limit that the rule can count. */
  readonly maxLimit: number;
  /** The field to read; undefined: the value of the last entry. */
  readonly field: string | undefined;
  /** The rule's limit with what a field says in place of `requests_per_unit`. */
  readonly limitFor: (said: ValueLimit) => RuleLimit;
}

/** One descriptor entry of the rules: what applies here and what may follow. */
export interface RuleNode extends KeyTemplate {
  readonly limit: RuleLimit | undefined;
  readonly children: RuleLevel | undefined;
  /** The wildcard pattern that stands for the value in counter keys; undefined: the value itself. */
  readonly sharedPattern: string | undefined;
  /** The segment of this level in a metric key when no runtime value goes into it. */
  readonly segment: string;
  readonly valueToMetric: boolean;
  /** Whether a level from the top to here puts a runtime value into the metric key (`value_to_metric`). */
  readonly dynamicMetric: boolean;
  /** Whether a level from the top to here has `share_threshold`. */
  readonly isOnSharedPath: boolean;
}

/** The entries of one level that share a key. */
export interface KeyRules {
  readonly key: string;
  readonly byValue: ReadonlyMap<string, RuleNode> | undefined;
  readonly wildcards: WildcardIndex<RuleNode> | undefined;
  readonly anyValue: RuleNode | undefined;
}

/**
 * The entries of one level, by key. Most levels know a single key: those are its rules alone, because
 * a map costs several cache misses once there are thousands of rules.
 */
export type RuleLevel = KeyRules | Map<string, KeyRules>;

export interface DomainRules {
  readonly domain: string;
  /** A refused request charges no counter of these rules. */
  readonly isChargedTogether: boolean;
  readonly top: RuleLevel;
  /** Those of the whole rule set; undefined when no key is secret. */
  readonly secrets?: Secrets | undefined;
}

/** One complete, immutable set of rules. */
export interface Rules {
  readonly domains: ReadonlyMap<string, DomainRules>;
  /** Number of rules with limits, for logs and `/rlconfig`. */
  readonly limitCount: number;
  /** Whether a limit has `limits_from`: most rule sets have none, and no descriptor is looked up for one then. */
  readonly hasLimitsFrom: boolean;
  /** Whether a domain charges its requests together; as rare. */
  readonly hasTogether: boolean;
  /** Whether a rule has a budget; as rare. */
  readonly hasBudgets: boolean;
  /** Where rules are written. Beside the nodes, so that matching has less to read. */
  readonly places: ReadonlyMap<RuleNode, RulePlace>;
  /** Undefined when no key is secret. */
  readonly secrets?: Secrets | undefined;
  /** The zones of its calendars, by name; empty where the runtime alone knows them. */
  readonly zones?: ReadonlyMap<string, FoundZone>;
}
