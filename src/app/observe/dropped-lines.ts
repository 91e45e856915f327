import type { Statistics } from '../../core/ports';
import type { Logger } from '../../platform/logger/logger';

export interface DroppedLinesDeps {
  readonly statistics: Pick<Statistics, 'count'>;
  readonly logger: Logger;
}

const DROPPED = 'ratelimit.decisionlog.dropped';
/** From the first dropped line to the first report, so that it counts a burst; then from one to the next. */
const FIRST_REPORT_MS = 1_000;
const REPORT_EVERY_MS = 60_000;
const TOO_MANY =
  'more than DECISION_LOG_MAX_PER_SECOND in a second, or the disk or the reader is slow';

/** Counts each lost line, and says in the log how many they are: soon, and then once a minute. */
export function createDroppedLines({ statistics, logger }: DroppedLinesDeps) {
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

  return {
    add: () => {
      statistics.count(DROPPED, 1);
      dropped += 1;
      timer ??= setTimeout(reportDue, FIRST_REPORT_MS).unref();
    },
    /** Why the file takes none: the next report says it. */
    explain: (error: Error) => {
      failure = error;
    },
    /** Reports what has not been reported. */
    close() {
      clearTimeout(timer);
      if (dropped > 0) report();
    },
  };
}
