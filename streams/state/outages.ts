import { finalize, mergeAll, Subject, takeWhile, type Observable } from 'rxjs';
import {
  reportOutages,
  type AttemptResult,
  type OutageReport,
  type OutageTiming,
} from '../operators/report-outages';
import { createStopSignal } from './stop-signal';

/** Follows at most `maxOpen` outages at the same time: one more evicts the oldest. */
export function createOutages<Reason>(timing: OutageTiming<Reason>, maxOpen: number) {
  const followedSubject = new Subject<Observable<OutageReport<Reason>>>();
  const stopping = createStopSignal();
  const open = new Map<string, Subject<AttemptResult<Reason>>>();

  const end = (name: string): void => {
    const attemptsSubject = open.get(name);
    open.delete(name);
    attemptsSubject?.complete();
  };
  const begin = (name: string): Subject<AttemptResult<Reason>> => {
    const [oldest] = open.keys();
    if (oldest !== undefined && open.size >= maxOpen) end(oldest);
    const attemptsSubject = new Subject<AttemptResult<Reason>>();
    open.set(name, attemptsSubject);
    followedSubject.next(
      attemptsSubject.pipe(
        reportOutages(timing),
        takeWhile(({ kind }) => kind !== 'ended', true),
        finalize(() => {
          if (open.get(name) === attemptsSubject) open.delete(name);
        }),
      ),
    );
    return attemptsSubject;
  };

  return {
    /** Reports failures of a name, `times` of them. */
    failed: (name: string, reason: Reason, times: number) => {
      const attemptsSubject = open.get(name) ?? begin(name);
      attemptsSubject.next({ kind: 'failed', times, reason });
    },
    /** Reports a success of a name. Costs nothing while the name has not failed. */
    succeeded: (name: string) => {
      open.get(name)?.next({ kind: 'succeeded' });
    },
    /** The name does not exist any more: stops following it. */
    removed: end,
    /** Subscribe before the first failure. Completes after `close`. */
    reports$: followedSubject.pipe(mergeAll(), stopping.until()),
    close: () => {
      for (const name of [...open.keys()]) end(name);
      stopping.stop();
    },
  };
}
