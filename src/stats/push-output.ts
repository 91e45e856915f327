import { type Observable } from 'rxjs';
import { createSnapshot, flushPeriodically, fromTask } from '../../streams';
import type { Logger } from '../platform/logger/logger';
import { type Flush, push, type PushDeps } from './push';

/** Statistics that are written away at an interval. */
export interface PushOutput {
  /** Flushes at every interval and once more at the end, then completes. Never fails. */
  readonly run$: Observable<Flush>;
  /** Asks for the last flush and the end of `run$`. Safe to call twice. */
  close(): void;
}

export interface FlushOptions {
  readonly flushIntervalMs: number;
  /** The last flush gives up this long after `close`. */
  readonly lastFlushWithinMs: number;
}

/** The output that writes to `sink`; the log hears when it cannot, and when it can again. */
export function createPushOutput(
  deps: PushDeps & { readonly logger: Pick<Logger, 'warn'> },
  { flushIntervalMs, lastFlushWithinMs }: FlushOptions,
): PushOutput {
  const { sink, logger } = deps;
  const life = createSnapshot(undefined);
  let isAway = false;

  const report = ({ lines, error }: Flush) => {
    if (error !== undefined && !isAway) {
      isAway = true;
      const what = `statistics cannot be written to ${sink.name}, they are kept and sent later`;
      logger.warn(what, { error: error.message });
    }
    if (error === undefined && isAway && lines > 0) {
      isAway = false;
      logger.warn(`statistics are written to ${sink.name} again`);
    }
  };

  const flush = async (signal: AbortSignal): Promise<Flush> => {
    const flushed = await push(deps, signal);
    if (!signal.aborted) report(flushed);
    return flushed;
  };

  return {
    run$: flushPeriodically({
      everyMs: flushIntervalMs,
      life$: life.changes$,
      flush: () => fromTask(flush),
      lastWithinMs: lastFlushWithinMs,
      end: () => {
        sink.close();
      },
    }),
    close() {
      life.close();
    },
  };
}
