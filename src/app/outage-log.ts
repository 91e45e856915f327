import { map, mergeAll, Subject, type Observable } from 'rxjs';
import { createStopSignal, reportOutages, type Attempt, type OutageReport } from '../../streams';
import type { LogFields, Logger } from '../platform/logger/logger';

/** What the log says of one thing that can fail and come back. */
export interface OutageLines {
  readonly level: 'warn' | 'error';
  /** At the first failure, and once a minute while there are more. */
  readonly failing: string;
  readonly ended: string;
}

/** Logs outages: the first failure at once, then once a minute how many there were, then the end. */
export interface OutageLog {
  /** Something failed, so many times; the lines of its outage are those of its first failure. */
  failed(name: string, lines: OutageLines, fields: LogFields, times?: number): void;
  /** Something of this name worked. Costs nothing while it has not failed. */
  worked(name: string): void;
  /** Writes the lines; subscribe before the first failure. Completes after `close`. */
  readonly run$: Observable<void>;
  close(): void;
}

export interface OutageLogDeps {
  readonly logger: Logger;
  readonly monotonicMs: () => number;
}

const EVERY_MS = 60_000;
/** Longer than the wait between two attempts to connect: what comes and goes is one outage. */
const QUIET_MS = 2_000;
/** Outages at the same time; of one more, the oldest is no longer followed. */
const MAX_OPEN = 256;

type Attempts = Subject<Attempt<LogFields>>;

export function createOutageLog({ logger, monotonicMs }: OutageLogDeps): OutageLog {
  const timing = { everyMs: EVERY_MS, quietMs: QUIET_MS, now: monotonicMs };
  const reportsSubject = new Subject<Observable<void>>();
  const stopping = createStopSignal();
  const open = new Map<string, Attempts>();

  const end = (name: string): void => {
    const attempts = open.get(name);
    open.delete(name);
    attempts?.complete();
  };
  const begin = (name: string, lines: OutageLines): Attempts => {
    const [oldest] = open.keys();
    if (oldest !== undefined && open.size >= MAX_OPEN) end(oldest);
    const attempts: Attempts = new Subject();
    open.set(name, attempts);
    const log = (report: OutageReport<LogFields>): void => {
      logReport(logger, lines, report);
      if (report.kind === 'ended' && open.get(name) === attempts) end(name);
    };
    reportsSubject.next(attempts.pipe(reportOutages(timing), map(log)));
    return attempts;
  };

  return {
    failed(name, lines, fields, times = 1) {
      const attempts = open.get(name) ?? begin(name, lines);
      attempts.next({ kind: 'failed', times, reason: fields });
    },
    worked(name) {
      open.get(name)?.next({ kind: 'worked' });
    },
    run$: reportsSubject.pipe(mergeAll(), stopping.until()),
    close() {
      for (const name of [...open.keys()]) end(name);
      stopping.stop();
    },
  };
}

function logReport(
  logger: Logger,
  { level, failing, ended }: OutageLines,
  { kind, failures, lastedMs, reason }: OutageReport<LogFields>,
): void {
  const seconds = Math.round(lastedMs / 1_000);
  if (kind === 'ended') logger[level](ended, { failures, seconds });
  else logger[level](failing, { ...reason, failures, ...(kind === 'continues' && { seconds }) });
}
