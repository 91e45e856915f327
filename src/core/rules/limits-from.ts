import type { Algorithm } from '../algorithms/algorithm';
import type { LimitsFromRule, RuleLimit, ValueLimit } from './rules';

/** What a compiled rule knows of its source. */
export interface LimitsFromSource extends Pick<
  LimitsFromRule,
  'key' | 'refreshMs' | 'isPerSecond' | 'maxLimit' | 'field'
> {
  /** How the rule counts under this limit; undefined: by a plain fixed window. */
  readonly algorithmOf: (requestsPerUnit: number) => Algorithm | undefined;
}

/** Values of one rule that have a limit of their own mostly share few limits: plans. */
const MAX_KEPT_LIMITS = 256;

/** The same limit for a rule whose values have theirs in a hash. */
export function withLimitsFrom(
  plain: RuleLimit,
  { algorithmOf, ...source }: LimitsFromSource,
): RuleLimit {
  const kept = new Map<ValueLimit, RuleLimit>();
  const make = (said: ValueLimit): RuleLimit => {
    if (said === 'unlimited') return { ...plain, unlimited: true, ofRule: own };
    const current = { ...plain.current, requestsPerUnit: said };
    const algorithm = algorithmOf(said);
    return { ...plain, requestsPerUnit: said, current, algorithm, ofRule: own };
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
