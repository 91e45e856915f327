import type { Gate } from '../kinds/kind';
import type { LimitsFromRule, RuleLimit, ValueLimit } from './rules';

/** What a compiled rule knows of its source. */
export interface LimitsFromSource extends Pick<
  LimitsFromRule,
  'key' | 'refreshMs' | 'isPerSecond' | 'maxLimit' | 'field'
> {
  /** How the rule counts under this limit. */
  readonly gateOf: (requestsPerUnit: number) => Gate;
}

/** Values of one rule that have a limit of their own mostly share few limits: plans. */
const MAX_KEPT_LIMITS = 256;

/** The same limit for a rule whose values have theirs in a hash. */
export function withLimitsFrom(
  plain: RuleLimit,
  { gateOf, ...source }: LimitsFromSource,
): RuleLimit {
  const kept = new Map<ValueLimit, RuleLimit>();
  const make = (said: ValueLimit): RuleLimit => {
    if (said === 'unlimited') return { ...plain, unlimited: true, ofRule: own };
    const current = { ...plain.current, requestsPerUnit: said };
    return { ...plain, requestsPerUnit: said, current, gate: gateOf(said), ofRule: own };
  };
  const limitFor = (said: ValueLimit): RuleLimit => {
    const known = kept.get(said);
    if (known !== undefined) return known;
    if (kept.size === MAX_KEPT_LIMITS) kept.clear();
    const made = make(said);
    kept.set(said, made);
    return made;
  };
  const { key, refreshMs, isPerSecond, maxLimit } = source;
  const id = [isPerSecond, refreshMs, maxLimit, key].join(' ');
  const own: RuleLimit = { ...plain, limitsFrom: { ...source, id, limitFor } };
  return own;
}
