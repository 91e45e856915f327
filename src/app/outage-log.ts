import { map, type Observable } from 'rxjs';
import { createOutages, type OutageReport } from '../../streams';
import type { LogFields, Logger } from '../platform/logger/logger';
import { createOpenOutages, type OpenOutage } from './open-outages';

/** What the log says of one thing that can fail and come back. */
export interface OutageLines {
  readonly level: 'warn' | 'error';
  /** At the first failure, and once a minute while there are more. */
  readonly failing: string;
  readonly ended: string;
}

/** Logs outages: the first failure at once, then once a minute how many there were, then the end. */
export interface OutageLog {
  /** Something of this name failed, so many times (default 1). */
  readonly failed: (name: string, lines: OutageLines, fields: LogFields, times?: number) => void;
  /** Something of this name worked. Costs nothing while it has not failed. */
  readonly worked: (name: string) => void;
  /** What fails now. */
  readonly open: () => readonly OpenOutage<Failure>[];
  /** Writes the lines; subscribe before the first failure. Completes after `close`. */
  readonly run$: Observable<void>;
  readonly close: () => void;
}

export interface OutageLogDeps {
  readonly logger: Logger;
  readonly monotonicMs: () => number;
}

const EVERY_MS = 60_000;
/** Longer than the wait between two attempts to connect: what comes and goes is one outage. */
const QUIET_MS = 2_000;
const MAX_OPEN = 256;

/** The latest failure of an outage. */
export interface Failure {
  readonly lines: OutageLines;
  readonly fields: LogFields;
}

export function createOutageLog({ logger, monotonicMs }: OutageLogDeps): OutageLog {
  const timing = { everyMs: EVERY_MS, quietMs: QUIET_MS, now: monotonicMs };
  const { failed, worked, reports$, close } = createOutages<Failure>(timing, MAX_OPEN);
  const openOutages = createOpenOutages<Failure>(monotonicMs, {
    quietMs: QUIET_MS,
    maxOpen: MAX_OPEN,
  });
  const run$ = reports$.pipe(
    map((report) => {
      logReport(logger, report);
    }),
  );
  return {
    failed(name, lines, fields, times = 1) {
      openOutages.failed(name, { lines, fields });
      failed(name, { lines, fields }, times);
    },
    worked(name) {
      openOutages.worked(name);
      worked(name);
    },
    open: openOutages.list,
    run$,
    close,
  };
}

function logReport(
  logger: Logger,
  { kind, failures, lastedMs, reason }: OutageReport<Failure>,
): void {
  const { lines, fields } = reason;
  const seconds = Math.round(lastedMs / 1_000);
  if (kind === 'ended') logger[lines.level](lines.ended, { failures, seconds });
  else {
    const since = kind === 'continues' ? { seconds } : {};
    logger[lines.level](lines.failing, { ...fields, failures, ...since });
  }
}
