import type { Code } from '../model';
import type { Verdict } from './verdict';

/**
 * The overall code of one request (behaviour.md §4.3, §2.6): over when a hard limit is over,
 * or when there are quotas and all of them are over. Under QUOTA_MODE a descriptor without a rule
 * is a quota that is not over.
 */
export function overallCode(verdicts: readonly (Verdict | undefined)[], quotaMode: boolean): Code {
  let quotas = 0;
  let quotasOver = 0;
  for (const verdict of verdicts) {
    if (verdict === undefined) {
      if (quotaMode) quotas += 1;
      continue;
    }
    const over = verdict.status.code === 'OVER_LIMIT';
    if (verdict.bearing === 'quota') {
      quotas += 1;
      if (over) quotasOver += 1;
    } else if (over) return 'OVER_LIMIT';
  }
  return quotasOver > 0 && quotasOver === quotas ? 'OVER_LIMIT' : 'OK';
}
