import { finalize, mergeAll, Subject, takeWhile, type Observable } from 'rxjs';
import {
  reportOutages,
  type AttemptResult,
  type OutageReport,
  type OutageTiming,
} from '../operators/report-outages';
import { createStopSignal } from './stop-signal';

/** The outages of things with a name, each followed on its own. */
export interface Outages<Reason> {
  /** Something failed, so many times. */
  readonly failed: (name: string, reason: Reason, times: number) => void;
  /** Something of this name worked. Costs nothing while it has not failed. */
  readonly worked: (name: string) => void;
  /** There is nothing of this name any more: it is followed no longer. */
  readonly gone: (name: string) => void;
  /** Subscribe before the first failure. Completes after `close`. */
  readonly reports$: Observable<OutageReport<Reason>>;
  readonly close: () => void;
}

/** Follows at most `maxOpen` outages at the same time: of one more, the oldest is followed no longer. */
export function createOutages<Reason>(
  timing: OutageTiming<Reason>,
  maxOpen: number,
): Outages<Reason> {
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
    failed(name, reason, times) {
      const attemptsSubject = open.get(name) ?? begin(name);
      attemptsSubject.next({ kind: 'failed', times, reason });
    },
    worked(name) {
      open.get(name)?.next({ kind: 'worked' });
    },
    gone: end,
    reports$: followedSubject.pipe(mergeAll(), stopping.until()),
    close() {
      for (const name of [...open.keys()]) end(name);
      stopping.stop();
    },
  };
}
