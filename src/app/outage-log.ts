import { map, type Observable } from 'rxjs';
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

/** Logs outages: the first failure at once, then once a minute how many there were, then the end. */
export interface OutageLog {
  /** Something of this name failed, so many times (default 1). */
  readonly failed: (name: string, lines: OutageLines, fields: LogFields, times?: number) => void;
  /** Something of this name worked. Costs nothing while it has not failed. */
  readonly worked: (name: string) => void;
  /** The outages of now. */
  readonly open: () => readonly OpenOutage<OutageFailure>[];
  /** Writes the lines. Subscribe before the first failure; completes after `close`. */
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
export interface OutageFailure {
  readonly lines: OutageLines;
  readonly fields: LogFields;
}

export function createOutageLog({ logger, monotonicMs }: OutageLogDeps): OutageLog {
  const timing = { everyMs: EVERY_MS, quietMs: QUIET_MS, now: monotonicMs };
  const { failed, worked, reports$, close } = createOutages<OutageFailure>(timing, MAX_OPEN);
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
    failed(name, lines, fields, times = 1) {
      openOutages.failed(name, { lines, fields });
      if (lines.isEachLogged === true) logger[lines.level](lines.failing, fields);
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

/** One of them. */
export interface OpenOutage<Reason> {
  readonly name: string;
  /** Of its latest failure. */
  readonly reason: Reason;
  readonly lastedMs: number;
}

/** The outages of now, for a page: each name from its first failure until it has worked for `quietMs`. */
export interface OpenOutages<Reason> {
  readonly failed: (name: string, reason: Reason) => void;
  readonly worked: (name: string) => void;
  readonly list: () => readonly OpenOutage<Reason>[];
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

export function createOpenOutages<Reason>(
  monotonicMs: () => number,
  { quietMs, maxOpen }: OpenOutagesOptions,
): OpenOutages<Reason> {
  const followed = new Map<string, Followed<Reason>>();
  const isOver = ({ workedMs }: Followed<Reason>): boolean =>
    workedMs !== undefined && monotonicMs() - workedMs >= quietMs;

  return {
    failed(name, reason) {
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
    worked(name) {
      if (followed.size === 0) return;
      const known = followed.get(name);
      if (known !== undefined) known.workedMs ??= monotonicMs();
    },
    list() {
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
