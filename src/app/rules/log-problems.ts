import { messageOf, type RuleProblem } from '../../fields/problem';
import type { Logger } from '../../platform/logger';
import type { LoadResult } from '../../rule-sources/load-result';

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
