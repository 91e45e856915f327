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
  /** True: nobody asked for this output. While nothing was ever written, that it is away is no news. */
  readonly isOptional?: boolean;
}

/** The output that writes to `sink`; the log hears when it cannot, and when it can again. */
export function createPushOutput(
  deps: PushDeps & { readonly logger: Pick<Logger, 'debug' | 'warn'> },
  { flushIntervalMs, lastFlushWithinMs, isOptional = false }: FlushOptions,
): PushOutput {
  const { sink, logger } = deps;
  const life = createSnapshot(undefined);
  let isAway = false;
  let isExpected = !isOptional;

  const report = ({ lines, error }: Flush) => {
    if (error !== undefined && !isAway) {
      isAway = true;
      const what = `statistics cannot be written to ${sink.name}, they are kept and sent later`;
      logger[isExpected ? 'warn' : 'debug'](what, { error: error.message });
    }
    if (error === undefined && lines > 0) {
      if (isAway && isExpected) logger.warn(`statistics are written to ${sink.name} again`);
      isAway = false;
      isExpected = true;
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
