import { toDecisionRecord } from '../core/decision/decision-record';
import type { Clock, Random, Statistics } from '../core/ports';
import type { DecisionLog } from '../decisions/log-decisions';
import { describeCode, errorCode } from '../platform/errors';
import { openLineFile, type LineFile, type LineFileOptions } from '../platform/line-file';
import { escapeInvisible } from '../platform/logger/logfmt';
import type { Logger } from '../platform/logger/logger';
import type { DecisionLogSettings } from '../settings/decision-log';

export interface DecisionLogDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly statistics: Pick<Statistics, 'count'>;
  readonly logger: Logger;
  /** Default: `openLineFile`. */
  readonly open?: ((options: LineFileOptions) => LineFile) | undefined;
}

export interface DecisionLogOwner extends DecisionLog {
  readonly close: () => Promise<void>;
}

const DROPPED = 'ratelimit.decisionlog.dropped';
/** Most bytes that wait for the file. */
const MAX_BYTES = 4_194_304;
/** From the first dropped line to the first report, so that it counts a burst; then from one to the next. */
const FIRST_REPORT_MS = 1_000;
const REPORT_EVERY_MS = 60_000;
const CLOSE_WITHIN_MS = 1_000;

/** The decision log that the settings ask for; undefined: none. Throws when its file cannot be opened. */
export function createDecisionLog(
  { mode, sample, file, maxPerSecond }: DecisionLogSettings,
  { clock, random, statistics, logger, open = openLineFile }: DecisionLogDeps,
): DecisionLogOwner | undefined {
  if (mode === 'off') return undefined;
  let second = NaN;
  let written = 0;
  let dropped = 0;
  let failure: Error | undefined;
  let report: NodeJS.Timeout | undefined;

  const logDropped = (): void => {
    const advice = failure
      ? 'its file cannot be written'
      : 'there are more than DECISION_LOG_MAX_PER_SECOND or the disk is slow';
    const fields = { lines: dropped, ...(failure && { reason: failure.message }) };
    logger.warn(`the decision log has dropped lines: ${advice}`, fields);
    dropped = 0;
    failure = undefined;
  };
  const reportNow = (): void => {
    const isOver = dropped === 0;
    report = isOver ? undefined : setTimeout(reportNow, REPORT_EVERY_MS).unref();
    if (!isOver) logDropped();
  };
  const drop = (): void => {
    statistics.count(DROPPED, 1);
    dropped += 1;
    report ??= setTimeout(reportNow, FIRST_REPORT_MS).unref();
  };
  const lines = openOrSay(open, {
    path: file,
    maxBytes: MAX_BYTES,
    onDropped: drop,
    onError(error) {
      failure = error;
      drop();
    },
  });

  return {
    isWanted(isRefused) {
      if (!isRefused && (mode === 'over' || random() >= sample)) return false;
      const now = Math.floor(clock());
      if (now !== second) [second, written] = [now, 0];
      if (written < maxPerSecond) {
        written += 1;
        return true;
      }
      drop();
      return false;
    },
    write(record) {
      lines.write(`${escapeInvisible(JSON.stringify(toDecisionRecord(record)))}\n`);
    },
    async close() {
      clearTimeout(report);
      if (dropped > 0) logDropped();
      await lines.close(CLOSE_WITHIN_MS);
    },
  };
}

function openOrSay(open: typeof openLineFile, options: LineFileOptions): LineFile {
  try {
    return open(options);
  } catch (error) {
    const setting = `DECISION_LOG_FILE=${JSON.stringify(options.path)}`;
    const reason = describeCode(errorCode(error));
    throw new Error(`${setting}: cannot open the file: ${reason}`, { cause: error });
  }
}
