import { EMPTY, tap } from 'rxjs';
import { createSnapshot, createStopSignal } from '../../../streams';
import type { Clock, Statistics } from '../../core/ports';
import { countErrors } from '../../fields/problem';
import type { Logger } from '../../platform/logger';
import type { CheckSet } from '../../request-maps/check';
import { followCheckFiles } from '../../rule-sources/check-files';
import type { LoadResult } from '../../rule-sources/load-result';
import type { Settings } from '../../settings/settings';
import type { OutageLog } from '../outage-log';
import { logProblems } from './rules';

export interface ChecksDeps {
  readonly statistics: Pick<Statistics, 'count'>;
  readonly logger: Logger;
  readonly outages: OutageLog;
  readonly clock: Clock;
}

/** The name of the outage. */
const CHECKS = 'checks';

/** Applies every successful load of CHECK_CONFIG. A failed one is counted and logged, and the last good checks stay. */
export function createChecksActor({ check, bounds }: Settings, deps: ChecksDeps) {
  const { statistics, logger, outages } = deps;
  const checks = createSnapshot<CheckSet | undefined>(undefined);
  const isRead = createSnapshot(check.config === undefined);
  const stopSignal = createStopSignal();

  const take = (load: LoadResult<CheckSet>): void => {
    logProblems(logger, load, CHECKS);
    if (load.ok) {
      statistics.count('ratelimit.check.config_load_success', 1);
      checks.set(load.rules);
      outages.succeeded(CHECKS);
      const { domainCount: domains, ruleCount: descriptors } = load;
      logger.info('loaded the checks', { checks: load.rules.checks.size, domains, descriptors });
    } else {
      statistics.count('ratelimit.check.config_load_error', 1);
      const kept =
        checks.current === undefined
          ? 'none are in force yet'
          : 'the last valid ones stay in force';
      const lines = {
        level: 'error',
        failing: `checks not loaded, ${kept}`,
        ended: 'checks loaded successfully again',
      } as const;
      outages.failed(CHECKS, lines, { errors: countErrors(load) });
    }
    isRead.set(true);
  };
  const loads$ =
    check.config === undefined
      ? EMPTY
      : followCheckFiles(check.config, bounds, {
          clock: deps.clock,
          warn: (message) => {
            logger.warn(message);
          },
        });
  return {
    /** Emits every load, once it is in force or refused. */
    run$: loads$.pipe(tap(take), stopSignal.until()),
    /** Undefined before the first successful load. */
    checks,
    /** Turns true with the first load, right or wrong; without CHECK_CONFIG it is true. */
    isRead,
    close() {
      stopSignal.stop();
      checks.close();
      isRead.close();
    },
  };
}
