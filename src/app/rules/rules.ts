import { tap, type Observable } from 'rxjs';
import { createSnapshot, createStopSignal } from '../../../streams';
import { hasRead, type LoadResult } from '../../rule-sources/load-result';
import type { Clock, Statistics } from '../../core/ports';
import type { RulesVersion } from '../../core/explain/explanation';
import { countErrors, messageOf, type RuleProblem } from '../../fields/problem';
import { dumpRules } from '../../core/rules/dump';
import type { Rules } from '../../core/rules/rules';
import type { Logger } from '../../platform/logger';
import type { OutageLog } from '../outage-log';

export interface LastLoad {
  readonly ok: boolean;
  /** When it ended, in RFC 3339. */
  readonly at: string;
  /** Number of its mistakes; the log has them. */
  readonly errors: number;
}

export interface RulesActorDeps {
  readonly statistics: Pick<Statistics, 'count' | 'gauge'>;
  readonly logger: Logger;
  readonly outages: OutageLog;
  readonly clock: Clock;
}

export interface RulesActorOptions {
  /** FORCE_START_WITHOUT_INITIAL_CONFIG: the start waits only for existing rule files. */
  readonly startsWithoutRules: boolean;
  readonly source: RulesVersion['source'];
}

/** The name of the outage. */
const RULES = 'rules';
const NONE = { problems: [] };
const NO_RULES = 'no rules are loaded yet';

/** Applies every successful load. A failed one is counted and logged, and the last good rules stay. */
export function createRulesActor(
  loads$: Observable<LoadResult<Rules>>,
  { statistics, logger, outages, clock }: RulesActorDeps,
  { startsWithoutRules, source }: RulesActorOptions,
) {
  const rules = createSnapshot<Rules | undefined>(undefined);
  const isRead = createSnapshot(startsWithoutRules && source !== 'files');
  const stopSignal = createStopSignal();
  let problems: Pick<LoadResult<Rules>, 'problems' | 'unlisted'> = NONE;
  let version: RulesVersion | undefined;
  let lastLoad: LastLoad | undefined;
  const whyNoRules = createSnapshot(NO_RULES);
  const removeGauge = statistics.gauge('weir.rules_load_failing', () =>
    lastLoad?.ok === false ? 1 : 0,
  );
  /** A version of the management server; the outage is reported once, each further refused version too. */
  let refusedVersion: string | undefined;

  const take = (load: LoadResult<Rules>): void => {
    logProblems(logger, load, RULES);
    const durationMs = Math.round(load.durationMs);
    const named = load.version === undefined ? {} : { version: load.version };
    const at = new Date(clock() * 1_000).toISOString();
    const isFirst = lastLoad === undefined;
    lastLoad = { ok: load.ok, at, errors: countErrors(load) };
    if (load.ok) {
      statistics.count('ratelimit.service.config_load_success', 1);
      problems = NONE;
      version = { version: load.digest, loadedAt: at, source };
      rules.set(load.rules);
      outages.succeeded(RULES);
      refusedVersion = undefined;
      const { domainCount: domains, ruleCount: descriptors } = load;
      const { limitCount: limits } = load.rules;
      logger.info('loaded the rules', { ...named, domains, descriptors, limits, durationMs });
      logRules(logger, load.rules);
    } else {
      statistics.count('ratelimit.service.config_load_error', 1);
      problems = load;
      whyNoRules.set(failedLoadText(isFirst, lastLoad.errors));
      const kept =
        rules.current === undefined ? 'none are in force yet' : 'the last valid ones stay in force';
      const lines = {
        level: 'error',
        failing: `rules not loaded, ${kept}`,
        ended: 'rules loaded successfully again',
      } as const;
      const isAnother = refusedVersion !== undefined && load.version !== refusedVersion;
      refusedVersion = load.version;
      if (isAnother) logger.error(lines.failing, { ...named, durationMs });
      outages.failed(RULES, lines, { ...named, durationMs });
    }
    if ((startsWithoutRules || hasRead(load)) && !isRead.current) isRead.set(true);
  };

  return {
    /** Emits every load, once it is in force or refused. */
    run$: loads$.pipe(tap(take), stopSignal.until()),
    /** Undefined before the first successful load. */
    rules,
    /** Turns true with the first load that could read the rules, right or wrong; see `startsWithoutRules`. */
    isRead,
    /** The rules in force; undefined before the first successful load. */
    version: () => version,
    /** The first problems of the last load, with their places; none after a success. */
    problems: () => problems,
    /** Undefined before the first load. */
    lastLoad: () => lastLoad,
    /** What a caller reads while there are no rules. */
    whyNoRules,
    close() {
      removeGauge();
      whyNoRules.close();
      stopSignal.stop();
      rules.close();
      isRead.close();
    },
  };
}

/** The rules in force, and the result of their last load. */
export type RulesActor = ReturnType<typeof createRulesActor>;

function failedLoadText(isFirst: boolean, errors: number): string {
  const mistakes = errors === 1 ? '1 mistake' : `${String(errors)} mistakes`;
  return `the ${isFirst ? 'first' : 'last'} load had ${mistakes}, see the log`;
}

/** Log lines about single rules per load: a log is for people. */
const MAX_LINES = 1_000;

/** The loaded domains and descriptors, logged at start (docs/logging.md). */
function logRules(logger: Logger, rules: Rules): void {
  for (const domain of [...rules.domains.keys()].slice(0, MAX_LINES))
    logger.info('loaded the domain', { domain });
  if (rules.limitCount > MAX_LINES) {
    logger.debug('too many limits to log, /rlconfig on the debug port lists them');
    return;
  }
  for (const limit of dumpRules(rules)) logger.debug('loaded the limit', { limit });
}

/**
 * Logs the problems of one load: the first ones, and the number of the others.
 * @param what the noun of the load: rules, checks
 */
export function logProblems(
  logger: Logger,
  { problems, unlisted }: Pick<LoadResult<unknown>, 'problems' | 'unlisted'>,
  what: string,
): void {
  for (const problem of problems) logProblem(logger, problem, what);
  if (unlisted === undefined) return;
  const message = `more problems in the ${what} than are logged: ratelimit-config-check lists all`;
  if (unlisted.errors > 0) logger.error(message, { ...unlisted });
  else logger.warn(message, { ...unlisted });
}

/** Place and reason are fields, for programs that read the log. */
function logProblem(logger: Logger, problem: RuleProblem, what: string): void {
  const { severity, file, at } = problem;
  const fields = {
    ...(file !== '' && { file }),
    ...('line' in at && at),
    error: messageOf(problem),
  };
  if (severity === 'error') logger.error(`a mistake in the ${what}`, fields);
  else logger.warn(`a warning about the ${what}`, fields);
}
