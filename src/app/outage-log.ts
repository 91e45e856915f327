import { map } from 'rxjs';
import { createOutages, type OutageReport } from '../../streams';
import type { LogFields, Logger } from '../platform/logger/logger';

/** The lines about one thing that can fail and recover. */
export interface OutageLines {
  readonly level: 'warn' | 'error';
  /** At the first failure, and once a minute while there are more. */
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
/** A reason that changes is logged at once, and no more often than this. */
const CHANGE_MS = 5_000;
/** Longer than the wait between two attempts to connect: what comes and goes is one outage. */
const QUIET_MS = 2_000;
const MAX_OPEN = 256;

export interface OutageFailure {
  readonly lines: OutageLines;
  readonly fields: LogFields;
}

/** Logs outages: the first failure at once, then each new reason, and once a minute how many there were, then the end. */
export function createOutageLog({ logger, monotonicMs }: OutageLogDeps) {
  const { failed, worked, gone, reports$, close } = createOutages<OutageFailure>(
    {
      everyMs: EVERY_MS,
      changeMs: CHANGE_MS,
      quietMs: QUIET_MS,
      isSame: isSameFailure,
      now: monotonicMs,
    },
    MAX_OPEN,
  );
  const openOutages = createOpenOutages<OutageFailure>(monotonicMs, {
    quietMs: QUIET_MS,
    maxOpen: MAX_OPEN,
  });
  const run$ = reports$.pipe(
    map((report) => {
      logReport(logger, report);
    }),
  );
  return {
    /** Something of this name failed, so many times (default 1). */
    failed(name: string, lines: OutageLines, fields: LogFields, times = 1) {
      openOutages.failed(name, { lines, fields });
      if (lines.isEachLogged === true) logger[lines.level](lines.failing, fields);
      failed(name, { lines, fields }, times);
    },
    /** Something of this name worked. Costs nothing while it has not failed. */
    worked(name: string) {
      openOutages.worked(name);
      worked(name);
    },
    /** There is nothing of this name any more. Answers whether that ended an outage. */
    gone(name: string) {
      gone(name);
      return openOutages.gone(name);
    },
    /** The outages of now. */
    open: openOutages.list,
    /** Writes the lines. Subscribe before the first failure; completes after `close`. */
    run$,
    close,
  };
}

export type OutageLog = ReturnType<typeof createOutageLog>;

/** Reasons that differ only in numbers (a port, a time-out that grows) are the same. */
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

export interface OpenOutage<Reason> {
  readonly name: string;
  /** Of its latest failure. */
  readonly reason: Reason;
  readonly lastedMs: number;
}

export interface OpenOutagesOptions {
  /** A failure this soon after a success continues the outage before it. */
  readonly quietMs: number;
  /** When there is one more, the oldest is dropped. */
  readonly maxOpen: number;
}

interface Followed<Reason> {
  reason: Reason;
  readonly sinceMs: number;
  workedMs: number | undefined;
}

/** The outages of now, for a page: each name from its first failure until it has worked for `quietMs`. */
export function createOpenOutages<Reason>(
  monotonicMs: () => number,
  { quietMs, maxOpen }: OpenOutagesOptions,
) {
  const followed = new Map<string, Followed<Reason>>();
  const isOver = ({ workedMs }: Followed<Reason>): boolean =>
    workedMs !== undefined && monotonicMs() - workedMs >= quietMs;

  return {
    failed(name: string, reason: Reason) {
      const known = followed.get(name);
      if (known !== undefined && !isOver(known)) {
        known.reason = reason;
        known.workedMs = undefined;
        return;
      }
      followed.delete(name);
      const [oldest] = followed.keys();
      if (oldest !== undefined && followed.size >= maxOpen) followed.delete(oldest);
      followed.set(name, { reason, sinceMs: monotonicMs(), workedMs: undefined });
    },
    worked(name: string) {
      if (followed.size === 0) return;
      const known = followed.get(name);
      if (known !== undefined) known.workedMs ??= monotonicMs();
    },
    /** Answers whether it was one of them. */
    gone: (name: string) => followed.delete(name),
    list: (): readonly OpenOutage<Reason>[] => {
      for (const [name, one] of followed) if (isOver(one)) followed.delete(name);
      const nowMs = monotonicMs();
      return [...followed].map(([name, { reason, sinceMs }]) => ({
        name,
        reason,
        lastedMs: nowMs - sinceMs,
      }));
    },
  };
}
