import { messageOf, type RuleProblem } from '../../fields/problem';
import type { Logger } from '../../platform/logger/logger';

/**
 * Logs what one load met. Place and reason are fields, for what reads the log.
 * @param what the noun of the load: rules, checks
 */
export function logProblem(logger: Logger, problem: RuleProblem, what: string): void {
  const { severity, file, at } = problem;
  const fields = {
    ...(file !== '' && { file }),
    ...('line' in at && at),
    error: messageOf(problem),
  };
  if (severity === 'error') logger.error(`a mistake in the ${what}`, fields);
  else logger.warn(`a warning about the ${what}`, fields);
}
