import { map, type Observable } from 'rxjs';
import type { SnapshotOwner } from '../../streams';
import type { LoadResult } from '../config/load-result';
import type { Statistics } from '../core/ports';
import { dumpRules } from '../core/rules/dump';
import { messageOf, type RuleProblem } from '../core/rules/parse/problem';
import type { Rules } from '../core/rules/rules';
import type { Logger } from '../platform/logger/logger';
import type { OutageLog } from './outage-log';

export interface FollowRulesDeps {
  readonly rules: SnapshotOwner<Rules | undefined>;
  readonly statistics: Statistics;
  readonly logger: Logger;
  readonly outages: OutageLog;
}

/** The name of their outage. */
const RULES = 'rules';

/** Takes every good load into the snapshot; a bad one is counted and logged, and the last good rules stay. */
export function followRules(
  loads$: Observable<LoadResult<Rules>>,
  { rules, statistics, logger, outages }: FollowRulesDeps,
): Observable<LoadResult<Rules>> {
  return loads$.pipe(
    map((load) => {
      for (const problem of load.problems) logProblem(logger, problem);
      const durationMs = Math.round(load.durationMs);
      const version = load.version === undefined ? {} : { version: load.version };
      if (load.ok) {
        statistics.count('ratelimit.service.config_load_success', 1);
        rules.set(load.rules);
        outages.worked(RULES);
        const { domainCount: domains, ruleCount: descriptors } = load;
        const { limitCount: limits } = load.rules;
        logger.info('loaded the rules', { ...version, domains, descriptors, limits, durationMs });
        logRules(logger, load.rules);
      } else {
        statistics.count('ratelimit.service.config_load_error', 1);
        const kept = rules.current === undefined ? 'there are none yet' : 'the last good ones stay';
        const lines = {
          level: 'error',
          failing: `the rules were not loaded, ${kept}`,
          ended: 'the rules are good again',
        } as const;
        outages.failed(RULES, lines, { ...version, durationMs });
      }
      return load;
    }),
  );
}

/** Place and reason are fields, for what reads the log. */
function logProblem(logger: Logger, problem: RuleProblem): void {
  const { severity, file, at } = problem;
  const fields = {
    ...(file !== '' && { file }),
    ...('line' in at && at),
    error: messageOf(problem),
  };
  if (severity === 'error') logger.error('a mistake in the rules', fields);
  else logger.warn('a warning about the rules', fields);
}

/** Most lines about single rules in one load: a log is for people. */
const MAX_LINES = 1_000;

/** The loaded domains and descriptors, logged at start (docs/logging.md). */
function logRules(logger: Logger, rules: Rules): void {
  for (const domain of [...rules.domains.keys()].slice(0, MAX_LINES))
    logger.info('loaded the domain', { domain });
  if (rules.limitCount > MAX_LINES) {
    logger.debug('too many limits for the log, /rlconfig on the debug port prints them');
    return;
  }
  for (const limit of dumpRules(rules)) logger.debug('loaded the limit', { limit });
}
