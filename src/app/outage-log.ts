import { map } from 'rxjs';
import { createOutages, type OutageReport } from '../../streams';
import type { LogFields, Logger } from '../platform/logger';

/** The log lines of something that can fail and recover. */
export interface OutageLines {
  readonly level: 'warn' | 'error';
  /** At the first failure, and once a minute while failures continue. */
  readonly failing: string;
  /** Instead for each failure: the caller reports them once a second at most. */
  readonly isEachLogged?: boolean;
  readonly ended: string;
}

export interface OutageLogDeps {
  readonly logger: Logger;
  readonly monotonicMs: () => number;
}

const EVERY_MS = 60_000;
/** A changed reason is logged at once, but no more often than this. */
const CHANGE_MS = 5_000;
/** Longer than the wait between two attempts to connect: a flapping connection is one outage. */
const QUIET_MS = 2_000;
const MAX_OPEN = 256;

export interface OutageFailure {
  readonly lines: OutageLines;
  readonly fields: LogFields;
}

/** Logs outages: the first failure at once, then each new reason, and once a minute the number of failures, then the end. */
export function createOutageLog({ logger, monotonicMs }: OutageLogDeps) {
  const outages = createOutages<OutageFailure>(
    {
      everyMs: EVERY_MS,
      changeMs: CHANGE_MS,
      quietMs: QUIET_MS,
      isSame: isSameFailure,
      now: monotonicMs,
    },
    MAX_OPEN,
  );
  return {
    /** Reports failures of this name, `times` of them (default 1). */
    failed(name: string, lines: OutageLines, fields: LogFields, times = 1) {
      if (lines.isEachLogged === true) logger[lines.level](lines.failing, fields);
      outages.failed(name, { lines, fields }, times);
    },
    /** Reports a success of this name. Costs nothing while it has not failed. */
    succeeded: outages.succeeded,
    /** The name does not exist any more. Returns whether that ended an outage. */
    removed: outages.removed,
    /** The current outages, for the page. */
    open: outages.list,
    /** Writes the lines. Subscribe before the first failure; completes after `close`. */
    run$: outages.reports$.pipe(
      map((report) => {
        logReport(logger, report);
      }),
    ),
    close: outages.close,
  };
}

export type OutageLog = ReturnType<typeof createOutageLog>;

/** Reasons that differ only in numbers (a port, a growing time-out) are the same. */
function isSameFailure(a: OutageFailure, b: OutageFailure): boolean {
  return a.lines.failing === b.lines.failing && reasonOf(a) === reasonOf(b);
}

function reasonOf({ fields: { reason } }: OutageFailure): string {
  return typeof reason === 'string' ? reason.replaceAll(/\d+/g, '0') : '';
}

function logReport(
  logger: Logger,
  { kind, failures, lastedMs, reason }: OutageReport<OutageFailure>,
): void {
  const { lines, fields } = reason;
  const seconds = Math.round(lastedMs / 1_000);
  if (kind === 'ended') logger[lines.level](lines.ended, { failures, seconds });
  else if (lines.isEachLogged !== true) {
    const since = kind === 'continues' ? { seconds } : {};
    logger[lines.level](lines.failing, { ...fields, failures, ...since });
  }
}
