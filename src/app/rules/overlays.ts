import { Observable, tap } from 'rxjs';
import { createSnapshot, onceTrue } from '../../../streams';
import type { Clock, Statistics } from '../../core/ports';
import type { OverlaySet } from '../../core/rules/overlays/overlay';
import { countErrors } from '../../fields/problem';
import type { Logger } from '../../platform/logger';
import type { LoadResult } from '../../rule-sources/load-result';
import { followOverlayFiles, type CurrentOverlays } from '../../rule-sources/overlay-files';
import type { OutageLog } from '../outage-log';
import { logProblems } from './rules';

export interface OverlaysDeps {
  readonly statistics: Pick<Statistics, 'count' | 'gauge'>;
  readonly logger: Logger;
  readonly outages: OutageLog;
  readonly clock: Clock;
}

/** The name of the outage. */
const OVERLAYS = 'overlays';

/**
 * Follows RULE_OVERLAYS for a source of rules, whose first load waits for that of the overlays. A failed load of overlays is counted and
 * logged, and the last good ones stay.
 */
export function loadsWithOverlays<R>(
  path: string,
  { statistics, logger, outages, clock }: OverlaysDeps,
  rulesWith: (overlays: CurrentOverlays) => Observable<LoadResult<R>>,
): Observable<LoadResult<R>> {
  return new Observable((subscriber) => {
    const overlays = createSnapshot<OverlaySet | undefined>(undefined);
    const isRead = createSnapshot(false);
    let isFailing = false;
    let refused = 0;
    const removals = [
      statistics.gauge('weir.overlays_load_failing', () => (isFailing ? 1 : 0)),
      statistics.gauge('weir.overlay_fields_refused', () => refused),
    ];

    const take = (load: LoadResult<OverlaySet>): void => {
      logProblems(logger, load, OVERLAYS);
      isFailing = !load.ok;
      if (load.ok) {
        statistics.count('ratelimit.overlays.config_load_success', 1);
        outages.succeeded(OVERLAYS);
        logger.info('loaded the overlays', { overlays: load.ruleCount });
        if (load.digest !== overlays.current?.digest) overlays.set(load.rules);
      } else {
        statistics.count('ratelimit.overlays.config_load_error', 1);
        const kept =
          overlays.current === undefined
            ? 'none are in force yet'
            : 'the last valid ones stay in force';
        const lines = {
          level: 'error',
          failing: `overlays not loaded, ${kept}`,
          ended: 'overlays loaded successfully again',
        } as const;
        outages.failed(OVERLAYS, lines, { errors: countErrors(load) });
      }
      isRead.set(true);
    };
    const files$ = followOverlayFiles(path, {
      clock,
      warn: (message) => {
        logger.warn(message);
      },
    });
    const rules$ = rulesWith({
      current: () => overlays.current,
      changed$: overlays.later$,
    });
    const counted$ = onceTrue(isRead.changes$, rules$).pipe(
      tap((load) => {
        if (load.ok) refused = load.overlaid?.refused ?? 0;
      }),
    );
    const running = [counted$.subscribe(subscriber), files$.subscribe(take)];
    return () => {
      for (const one of running) one.unsubscribe();
      for (const remove of removals) remove();
      overlays.close();
      isRead.close();
    };
  });
}
