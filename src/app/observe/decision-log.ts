import { toDecisionRecord } from '../../core/decision/decision-record';
import type { Clock, Random, Statistics } from '../../core/ports';
import type { DecisionLog } from '../../decisions/log-decisions';
import { describeCode, errorCode } from '../../platform/errors';
import { escapeInvisible, type Logger } from '../../platform/logger';
import type { DecisionLogSettings } from '../../settings/logging';
import { openLineFile, type LineFile, type LineFileOptions } from '../../platform/line-file';

export interface DecisionLogDeps extends CountedLinesDeps {
  readonly clock: Clock;
  readonly random: Random;
}

export interface DecisionLogOwner extends DecisionLog {
  readonly close: () => Promise<void>;
}

const CLOSE_WITHIN_MS = 1_000;

/** The decision log of the settings; undefined: none. Throws when its file cannot be opened. */
export function createDecisionLog(
  { mode, sample, file, maxPerSecond }: DecisionLogSettings,
  { clock, random, ...deps }: DecisionLogDeps,
): DecisionLogOwner | undefined {
  if (mode === 'off') return undefined;
  let second = NaN;
  let written = 0;
  const lines = openOrSay(file, deps);

  return {
    isWanted(isRefused) {
      if (!isRefused && (mode === 'over' || random() >= sample)) return false;
      const now = Math.floor(clock());
      if (now !== second) [second, written] = [now, 0];
      if (written < maxPerSecond) {
        written += 1;
        return true;
      }
      lines.drop();
      return false;
    },
    write(record) {
      lines.write(`${escapeInvisible(JSON.stringify(toDecisionRecord(record)))}\n`);
    },
    close: () => lines.close(CLOSE_WITHIN_MS),
  };
}

function openOrSay(file: string | undefined, deps: CountedLinesDeps) {
  try {
    return openCountedLines(file, deps);
  } catch (error) {
    const setting = `DECISION_LOG_FILE=${JSON.stringify(file)}`;
    const code = errorCode(error);
    const reason = code === 'ENXIO' ? 'no process reads this FIFO (ENXIO)' : describeCode(code);
    throw new Error(`${setting}: cannot open the file: ${reason}`, { cause: error });
  }
}

interface CountedLinesDeps {
  readonly statistics: Pick<Statistics, 'count'>;
  readonly logger: Logger;
  /** Default: `openLineFile`. */
  readonly open?: ((options: LineFileOptions) => LineFile) | undefined;
}

/** Bytes queued for the file. */
const MAX_BYTES = 4_194_304;

const DROPPED = 'ratelimit.decisionlog.dropped';
/** From the first dropped line to the first report, so that it counts a burst; then the interval of reports. */
const FIRST_REPORT_MS = 1_000;
const REPORT_EVERY_MS = 60_000;
const TOO_MANY =
  'more than DECISION_LOG_MAX_PER_SECOND in a second, or the disk or the reader is slow';

/**
 * Opens the destination of the decision log; undefined: standard output. Counts each lost line, and logs their number: soon, and
 * then once a minute. Throws when the file cannot be opened.
 */
export function openCountedLines(
  path: string | undefined,
  { statistics, logger, open = openLineFile }: CountedLinesDeps,
) {
  let dropped = 0;
  let failure: Error | undefined;
  let timer: NodeJS.Timeout | undefined;

  const report = (): void => {
    const advice = failure ? 'its file cannot be written' : TOO_MANY;
    const fields = { lines: dropped, ...(failure && { reason: failure.message }) };
    logger.warn(`the decision log has dropped lines: ${advice}`, fields);
    dropped = 0;
    failure = undefined;
  };
  const reportDue = (): void => {
    const isOver = dropped === 0;
    timer = isOver ? undefined : setTimeout(reportDue, REPORT_EVERY_MS).unref();
    if (!isOver) report();
  };

  const drop = (): void => {
    statistics.count(DROPPED, 1);
    dropped += 1;
    timer ??= setTimeout(reportDue, FIRST_REPORT_MS).unref();
  };
  const lines = open({
    path,
    maxBytes: MAX_BYTES,
    onDropped: drop,
    onError(error) {
      // The next report contains it.
      failure = error;
    },
  });

  return {
    ...lines,
    /** Counts a line that is not written at all. */
    drop,
    async close(withinMs: number) {
      await lines.close(withinMs);
      clearTimeout(timer);
      if (dropped > 0) report();
    },
  };
}
