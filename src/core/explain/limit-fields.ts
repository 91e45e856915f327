import { limitWords } from '../rules/describe-limit';
import type { RuleLimit } from '../rules/rules';
import type { LimitExplanation } from './explanation';

/** What explanations and lists say of every limit. */
export function limitFields(
  limit: RuleLimit,
): Omit<LimitExplanation, 'source' | 'at' | 'limitsFrom'> {
  const { requestsPerUnit, unit, algorithm, shadowMode, quotaMode, name } = limit;
  return {
    requestsPerUnit,
    unit,
    algorithm: algorithm?.name ?? 'fixed_window',
    ...limitWords(limit),
    shadowMode,
    quotaMode,
    ...(name !== '' && { name }),
  };
}
