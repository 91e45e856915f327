import type { BlockTerms } from '../budgets/budget';
import type { AlgorithmName } from '../kinds/kinds';
import type { JsonObject } from '../model';
import type { Unit } from '../units';
import type { CalendarPeriod } from '../windows/calendar';
import type { Place, RuleProblem, Unlisted } from '../../fields/problem';
import type { OverlaidFields } from './overlays/overlay';
import type { SecretKind } from './secrets';

/** The policy for a request whose counting failed in the store: an error, OK, OVER_LIMIT, or the answer of a count in this process. */
export const ON_STORE_ERROR = ['error', 'allow', 'deny', 'local'] as const;

export type OnStoreError = (typeof ON_STORE_ERROR)[number];

/** `limits_from` of a rule file: limits of single values, read from a hash of the counter store. */
export interface LimitsFromDefinition {
  /** The key of the hash, complete: no prefix is added. */
  readonly key: string;
  /** A changed field takes effect at most this much later. */
  readonly refreshMs: number;
}

/** How calendar periods are cut, see `CalendarPeriod`. */
export type CalendarDefinition = Pick<CalendarPeriod, 'timeZone' | 'weekStart' | 'monthStart'>;

/** `block` of a rule file, with its defaults filled in (budgets.md section 6). */
export type BlockDefinition = Omit<BlockTerms, 'entry'>;

/** Defaults of `lease`, and of `refresh`. */
export const DEFAULT_LEASE_MS = 600_000;
export const DEFAULT_REFRESH_MS = 10_000;

/** `reserve` of a rule file (budgets.md section 4). */
export interface ReserveDefinition {
  readonly leaseMs: number;
  /** Whether expired hits are charged or released. */
  readonly unsettled: 'charge' | 'release';
  /** Undefined: a settle of 0 ends the reservation, as any other does. */
  readonly settleZero?: 'ignore' | undefined;
}

/** What a rule has beyond one limit on the hits of its requests (budgets.md). */
export interface BudgetDefinition {
  /** All limits of the rule, 1 to 8; the first is that of the `RuleDefinition`. */
  readonly limits: readonly LimitDefinition[];
  readonly reserve: ReserveDefinition | undefined;
  /** Counts refusals by any of the limits. */
  readonly block: BlockDefinition | undefined;
}

/** The limit of a rule as written, checked. */
export interface LimitDefinition {
  /** Undefined only for unlimited rules and for requests in flight. */
  readonly unit: Unit | undefined;
  /** uint32. */
  readonly requestsPerUnit: number;
  readonly unlimited: boolean;
  /** Empty when the rule has none. */
  readonly name: string;
  readonly replaces: readonly string[];
  /** Undefined: the same limit for all values. */
  readonly limitsFrom?: LimitsFromDefinition | undefined;
  /** Undefined: fixed_window. */
  readonly algorithm?: AlgorithmName | undefined;
  /** For gcra only: burst size; undefined: `requestsPerUnit`. */
  readonly burst?: number | undefined;
  /** Whether refused hits are charged; undefined: only by fixed_window. */
  readonly chargeDenied?: boolean | undefined;
  /** Number of units per period; undefined: 1. */
  readonly unitMultiplier?: number | undefined;
  /** Undefined: periods begin at multiples of their length since 1970. */
  readonly calendar?: CalendarDefinition | undefined;
  /** `algorithm: in_flight`: limits the number of open reservations, whatever their hits (budgets.md section 5). */
  readonly isInFlight?: boolean | undefined;
  /** Counts refusals by this limit. */
  readonly block?: BlockDefinition | undefined;
  /** Whether hits are charged in advance (docs/stores/leases.md); undefined: by KVSTORE_LEASES. */
  readonly leased?: boolean | undefined;
}

/** Where a rule is written; read only by explanations. */
export interface RulePlace {
  /** Name of the file or resource. */
  readonly file: string;
  readonly at: Place;
  /** The place of its `rate_limit`; undefined when it has none. */
  readonly limitAt: Place | undefined;
  /** What it has from overlays; undefined: nothing. */
  readonly overlaid?: readonly OverlaidFields[];
}

/**
 * One descriptor entry of a rule file, checked. Entries come flat, parents before children, so that ten thousand of them can cross
 * a thread and be compiled in slices.
 */
export interface RuleDefinition {
  /** Index of the enclosing entry in the same list; -1 at the top level of its domain. */
  readonly parent: number;
  readonly key: string;
  /** Undefined: any value. A `*` in it matches zero or more characters. */
  readonly value: string | undefined;
  readonly limit: LimitDefinition | undefined;
  /** Undefined: `limit` is all there is. */
  readonly budget?: BudgetDefinition | undefined;
  readonly shadowMode: boolean;
  readonly quotaMode: boolean;
  readonly detailedMetric: boolean;
  readonly valueToMetric: boolean;
  readonly shareThreshold: boolean;
  readonly metadata: JsonObject | undefined;
  /** Undefined: the service's default (KVSTORE_FAILURE_MODE). */
  readonly onStoreError?: OnStoreError | undefined;
  /** How its values are hidden; undefined: they are not secret. The same for every entry with this key. */
  readonly secret?: SecretKind | undefined;
  /** The token of the only value that matches, in place of `value`. */
  readonly valueHash?: string | undefined;
  /** Undefined: unknown. */
  readonly place?: RulePlace | undefined;
}

/** All checked entries of one domain (of several files when domains are merged). */
export interface DomainDefinition {
  readonly domain: string;
  /** `charge: together`: a refused request charges no counter of its rules (budgets.md section 7). */
  readonly isChargedTogether?: boolean | undefined;
  readonly rules: readonly RuleDefinition[];
}

/** The content of a source of rules. With any error none of it is used (behaviour.md §2.11). */
export interface ParsedRules {
  readonly domains: readonly DomainDefinition[];
  readonly problems: readonly RuleProblem[];
  /** Undefined: all problems are listed. */
  readonly unlisted?: Unlisted | undefined;
  /** Undefined: there are no overlays. */
  readonly overlaid?: OverlayCounts | undefined;
}

/** Fields that rules have from overlays, and those that they could not take. */
export interface OverlayCounts {
  readonly given: number;
  readonly refused: number;
}
