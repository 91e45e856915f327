import { MAX_PACED_LIMIT, toAlgorithm } from '../algorithms/algorithm';
import type { CurrentLimit } from '../model';
import type { LimitDefinition, RuleDefinition } from './definition';
import { withLimitsFrom } from './limits-from';
import type { Period } from './period';
import type { RuleLimit } from './rules';

export interface LimitOptions {
  /** UNIT_MULTIPLIER_ON_WIRE: answers say the number of units of a period. */
  readonly unitMultiplierOnWire?: boolean;
}

/** What the limits of one rule set are made with. */
export interface LimitMaker extends LimitOptions {
  readonly periodOf: (limit: LimitDefinition) => Period;
}

/** One shared empty list: reading its length touches no memory of the rule's own. */
const NO_NAMES: readonly string[] = [];

/** The limit at an entry, ready to match and to judge by; undefined: the entry has none. */
export function compileLimit(
  domain: string,
  rule: RuleDefinition,
  metric: string,
  maker: LimitMaker,
): RuleLimit | undefined {
  const limit = rule.limit;
  if (limit === undefined) return undefined;
  const period = maker.periodOf(limit);
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
    algorithm: limit.unlimited ? undefined : algorithmOf(limit, period),
    windowAt: period.windowAt,
    periodSeconds: period.seconds,
    calendar: period.calendar,
    limitsFrom: undefined,
    ofRule: undefined,
  };
  if (limit.limitsFrom === undefined) return plain;
  return withLimitsFrom(plain, {
    ...limit.limitsFrom,
    isPerSecond: period.unit === 'SECOND' && period.windowAt === undefined,
    maxLimit: (limit.algorithm ?? 'fixed_window') === 'fixed_window' ? MAX_UINT32 : MAX_PACED_LIMIT,
    field: rule.shareThreshold ? rule.value : undefined,
    algorithmOf: (requestsPerUnit) => algorithmOf({ ...limit, requestsPerUnit }, period),
  });
}

const MAX_UINT32 = 4_294_967_295;

/** Envoy would take a unit without its number for one of them, and let clients ask too often. */
function currentLimit(
  { requestsPerUnit, name }: LimitDefinition,
  { unit, multiplier }: Period,
  { unitMultiplierOnWire = false }: LimitOptions,
): CurrentLimit {
  if (multiplier === 1) return { requestsPerUnit, unit, name, unitMultiplier: undefined };
  return unitMultiplierOnWire
    ? { requestsPerUnit, unit, name, unitMultiplier: multiplier }
    : { requestsPerUnit, unit: 'UNKNOWN', name, unitMultiplier: undefined };
}

function algorithmOf(
  { requestsPerUnit, algorithm = 'fixed_window', burst, chargeDenied }: LimitDefinition,
  { seconds = 0 }: Period,
): RuleLimit['algorithm'] {
  return toAlgorithm({
    name: algorithm,
    limit: requestsPerUnit,
    burst,
    chargeDenied,
    // Only a fixed window, which does not read it, lies in a calendar.
    periodSeconds: seconds,
  });
}
