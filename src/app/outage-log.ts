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
  const {
    failed,
    succeeded: worked,
    removed: gone,
    reports$,
    close,
  } = createOutages<OutageFailure>(
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
    /** Reports failures of this name, `times` of them (default 1). */
    failed(name: string, lines: OutageLines, fields: LogFields, times = 1) {
      openOutages.failed(name, { lines, fields });
      if (lines.isEachLogged === true) logger[lines.level](lines.failing, fields);
      failed(name, { lines, fields }, times);
    },
    /** Reports a success of this name. Costs nothing while it has not failed. */
    succeeded(name: string) {
      openOutages.succeeded(name);
      worked(name);
    },
    /** The name does not exist any more. Returns whether that ended an outage. */
    removed(name: string) {
      gone(name);
      return openOutages.removed(name);
    },
    /** The current outages. */
    open: openOutages.list,
    /** Writes the lines. Subscribe before the first failure; completes after `close`. */
    run$,
    close,
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

export interface OpenOutage<Reason> {
  readonly name: string;
  /** The reason of its latest failure. */
  readonly reason: Reason;
  readonly lastedMs: number;
}

export interface OpenOutagesOptions {
  /** A failure this soon after a success continues the previous outage. */
  readonly quietMs: number;
  /** One more evicts the oldest. */
  readonly maxOpen: number;
}

interface Followed<Reason> {
  reason: Reason;
  readonly sinceMs: number;
  succeededMs: number | undefined;
}

/** The current outages, for a page: each name from its first failure until it has succeeded for `quietMs`. */
export function createOpenOutages<Reason>(
  monotonicMs: () => number,
  { quietMs, maxOpen }: OpenOutagesOptions,
) {
  const followed = new Map<string, Followed<Reason>>();
  const isOver = ({ succeededMs: workedMs }: Followed<Reason>): boolean =>
    workedMs !== undefined && monotonicMs() - workedMs >= quietMs;

  return {
    failed(name: string, reason: Reason) {
      const known = followed.get(name);
      if (known !== undefined && !isOver(known)) {
        known.reason = reason;
        known.succeededMs = undefined;
        return;
      }
      followed.delete(name);
      const [oldest] = followed.keys();
      if (oldest !== undefined && followed.size >= maxOpen) followed.delete(oldest);
      followed.set(name, { reason, sinceMs: monotonicMs(), succeededMs: undefined });
    },
    succeeded(name: string) {
      if (followed.size === 0) return;
      const known = followed.get(name);
      if (known !== undefined) known.succeededMs ??= monotonicMs();
    },
    /** Returns whether it was one of them. */
    removed: (name: string) => followed.delete(name),
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
