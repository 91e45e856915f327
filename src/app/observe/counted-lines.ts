import type { Statistics } from '../../core/ports';
import { openLineFile, type LineFile, type LineFileOptions } from '../../platform/line-file';
import type { Logger } from '../../platform/logger';

export interface CountedLinesDeps {
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
