import { MAX_OPEN } from '../budgets/budget';
import { kindOf, plainLimiter, toLimiter } from '../kinds/kinds';
import type { Limiter } from '../kinds/kind';
import type { CurrentLimit } from '../model';
import { entryLimiter, withBudget } from './compile-budget';
import type { LimitDefinition, RuleDefinition } from './definition';
import type { Period } from './compile-period';
import type { RuleLimit, LimitsFromRule, ValueLimit } from './rules';

export interface LimitOptions {
  /** UNIT_MULTIPLIER_ON_WIRE: answers include the number of units of a period. */
  readonly unitMultiplierOnWire?: boolean;
  /** SHADOW_MODE: every rule is in shadow mode. */
  readonly shadowMode?: boolean;
  /** QUOTA_MODE: every rule is a quota. */
  readonly quotaMode?: boolean;
  /** KVSTORE_LEASES: every limit that allows it is leased by default. */
  readonly leases?: boolean;
}

/** What the limits of one rule set are made with. */
export interface LimitMaker extends LimitOptions {
  readonly periodOf: (limit: LimitDefinition) => Period;
}

/** One shared empty list: reading its length touches no memory of the rule's own. */
const NO_NAMES: readonly string[] = [];

export interface LimitScope {
  readonly domain: string;
  /** Refused hits are not charged, unless the limit says otherwise. */
  readonly isChargedTogether: boolean;
  readonly metric: string;
}

/** The compiled limit of an entry; undefined: the entry has none. */
export function compileLimit(
  place: LimitScope,
  rule: RuleDefinition,
  maker: LimitMaker,
): RuleLimit | undefined {
  const { limit, budget } = rule;
  if (limit === undefined) return undefined;
  if (budget === undefined) {
    return compileOne(place, rule, inScope(limit, place, maker), { maker, limiterOf });
  }
  const isShadow = rule.shadowMode || maker.shadowMode === true;
  const isForced = isShadow || rule.quotaMode || maker.quotaMode === true;
  const isPerSecond = areAllPerSecond(budget.limits, maker);
  const entries = budget.limits.map((one) =>
    compileOne(
      place,
      rule,
      { ...one, leased: false },
      { maker, limiterOf: entryLimiter, isPerSecond },
    ),
  );
  return withBudget(entries, { ...budget, isForced, isShadow });
}

/** Whether the counter of these limits expires within a second; requests in flight may last longer. */
function areAllPerSecond(limits: readonly LimitDefinition[], maker: LimitMaker): boolean {
  const timed = limits.filter(({ isInFlight }) => isInFlight !== true);
  return timed.length > 0 && timed.every((one) => isOneSecond(maker.periodOf(one)));
}

function isOneSecond({ unit, multiplier }: Period): boolean {
  return unit === 'SECOND' && multiplier === 1;
}

/** Applies the defaults of its domain and of the settings. Most limits are unchanged: copying each would take most of a load's time. */
function inScope(
  limit: LimitDefinition,
  { isChargedTogether }: LimitScope,
  { leases = false }: LimitMaker,
): LimitDefinition {
  if (isChargedTogether)
    return { ...limit, chargeDenied: limit.chargeDenied ?? false, leased: false };
  return leases && limit.leased === undefined ? { ...limit, leased: true } : limit;
}

interface CompileOne {
  readonly maker: LimitMaker;
  /** See `RuleLimit`: decided for all limits of a list at once. */
  readonly isPerSecond?: boolean;
  readonly limiterOf: (limit: LimitDefinition, period: Period) => Limiter;
}

function compileOne(
  { domain, metric }: LimitScope,
  rule: RuleDefinition,
  limit: LimitDefinition,
  { maker, limiterOf: limiterFor, isPerSecond: listIsPerSecond }: CompileOne,
): RuleLimit {
  const period = limit.isInFlight === true ? NO_PERIOD : maker.periodOf(limit);
  const isPerSecond = listIsPerSecond ?? isOneSecond(period);
  const limiter = limit.unlimited ? plainLimiter(limit.requestsPerUnit) : limiterFor(limit, period);
  const plain: RuleLimit = {
    current: currentLimit(limit, period, maker),
    requestsPerUnit: limit.requestsPerUnit,
    unit: period.unit,
    unlimited: limit.unlimited,
    name: limit.name,
    replaces: limit.replaces.length === 0 ? NO_NAMES : limit.replaces,
    shadowMode: rule.shadowMode,
    quotaMode: rule.quotaMode,
    detailedMetric: rule.detailedMetric,
    metadata: rule.metadata,
    onStoreError: rule.onStoreError,
    metric,
    domain,
    limiter,
    isPerSecond,
    windowAt: period.windowAt,
    periodSeconds: period.seconds,
    calendar: period.calendar,
    limitsFrom: undefined,
    ofRule: undefined,
    budget: undefined,
    reservation: undefined,
    // Other kinds do not sum hits, so none can be charged in advance.
    isLeased: limit.leased === true && !limit.unlimited && !limiter.kind.readsFirst,
  };
  if (limit.limitsFrom === undefined) return plain;
  return withLimitsFrom(plain, {
    ...limit.limitsFrom,
    isPerSecond,
    maxLimit: limit.isInFlight === true ? MAX_OPEN : kindOf(limit).range.maxLimit,
    field: rule.shareThreshold ? rule.value : undefined,
    limiterOf: (requestsPerUnit) => limiterFor({ ...limit, requestsPerUnit }, period),
  });
}

/** For requests in flight: the wire has no unit for them, and they do not expire with a period. */
const NO_PERIOD: Period = {
  unit: 'SECOND',
  multiplier: 0,
  seconds: 0,
  windowAt: undefined,
  calendar: undefined,
};

/** Envoy would read a unit without its number as one unit, and let clients ask too often. */
function currentLimit(
  { requestsPerUnit, name }: LimitDefinition,
  { unit, multiplier }: Period,
  { unitMultiplierOnWire = false }: LimitOptions,
): CurrentLimit {
  if (multiplier === 0)
    return { requestsPerUnit, unit: 'UNKNOWN', name, unitMultiplier: undefined };
  if (multiplier === 1) return { requestsPerUnit, unit, name, unitMultiplier: undefined };
  return unitMultiplierOnWire
    ? { requestsPerUnit, unit, name, unitMultiplier: multiplier }
    : { requestsPerUnit, unit: 'UNKNOWN', name, unitMultiplier: undefined };
}

function limiterOf(
  { requestsPerUnit, algorithm, burst, chargeDenied }: LimitDefinition,
  { seconds = 0 }: Period,
): Limiter {
  // Only windows, whose counters need no clock, may follow a calendar.
  return toLimiter({
    algorithm,
    burst,
    chargeDenied,
    limit: requestsPerUnit,
    periodSeconds: seconds,
  });
}

/** What a compiled rule keeps of its source. */
interface LimitsFromSource extends Pick<
  LimitsFromRule,
  'key' | 'refreshMs' | 'isPerSecond' | 'maxLimit' | 'field'
> {
  /** The limiter of the rule for this limit. */
  readonly limiterOf: (requestsPerUnit: number) => Limiter;
}

/** Values of one rule with limits of their own usually share few limits: plans. */
const MAX_KEPT_LIMITS = 256;

/** The limit of a rule with `limits_from`. */
function withLimitsFrom(plain: RuleLimit, { limiterOf, ...source }: LimitsFromSource): RuleLimit {
  const kept = new Map<ValueLimit, RuleLimit>();
  const make = (valueLimit: ValueLimit): RuleLimit => {
    if (valueLimit === 'unlimited') return { ...plain, unlimited: true, ofRule: own };
    const current = { ...plain.current, requestsPerUnit: valueLimit };
    return {
      ...plain,
      requestsPerUnit: valueLimit,
      current,
      limiter: limiterOf(valueLimit),
      ofRule: own,
    };
  };
  const limitFor = (valueLimit: ValueLimit): RuleLimit => {
    const known = kept.get(valueLimit);
    if (known !== undefined) return known;
    if (kept.size === MAX_KEPT_LIMITS) kept.clear();
    const made = make(valueLimit);
    kept.set(valueLimit, made);
    return made;
  };
  const { key, refreshMs, isPerSecond, maxLimit } = source;
  const id = [isPerSecond, refreshMs, maxLimit, key].join(' ');
  const own: RuleLimit = { ...plain, limitsFrom: { ...source, id, limitFor } };
  return own;
}
