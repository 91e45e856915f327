import { systemClock } from '../../../src/platform/clock';
import type { DirectorySourceOptions } from '../../../src/rule-sources/directory-source';
import type { ParseRules } from '../../../src/rule-sources/loader/rule-loader';
import { followRules, type FollowedRules } from '../followed-rules';

/** Follows rule files that change meanwhile. */
export function followFiles(
  options: Partial<DirectorySourceOptions>,
  parse?: ParseRules,
): FollowedRules {
  return followRules(options, { clock: systemClock, ...(parse && { parse }) });
}
