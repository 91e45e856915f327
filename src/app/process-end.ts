import { map } from 'rxjs';
import { fromSignals, orderlyStop, type OrderlyStop, type StopEnd } from '../../streams';
import { StoreError } from '../core/errors';
import { createLogger } from '../platform/logger/create-logger';
import type { Logger } from '../platform/logger/logger';
import { ListenError } from '../platform/listen-address';

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

const EXIT_CODES: Readonly<Record<StopEnd, number>> = { stopped: 0, interrupted: 1, late: 1 };

const ENDS: Readonly<Record<StopEnd, string>> = {
  stopped: 'stopped',
  interrupted: 'ended by a second signal, before everything was answered',
  late: 'ended because the stop took too long',
};

/**
 * Writes why the process cannot start, one line for each problem, and ends it with 1. The lines are plain text, or those of the
 * JSON log. LOG_FORMAT is read leniently: it may be one of the problems. `hint` is for people only.
 */
export function failStart(process: NodeJS.Process, error: unknown, hint?: string): never {
  const { env, stderr } = process;
  const lines = linesOf(error);
  if (env['LOG_FORMAT']?.toLowerCase() === 'json') {
    const logger = createLogger({ level: 'error', format: 'json' });
    for (const line of lines) logger.error(line);
  } else {
    for (const line of hint === undefined ? lines : [...lines, hint]) stderr.write(`${line}\n`);
  }
  return process.exit(1);
}

/** All messages of an error; several errors at once come as an AggregateError or as lines. */
function linesOf(error: unknown): readonly string[] {
  if (error instanceof AggregateError) return error.errors.flatMap(linesOf);
  const message = error instanceof Error ? error.message : String(error);
  return message.split('\n');
}

/** Ends the process with 1 after whatever nobody handles, and after what the returned function is given. */
export function endOnFaults(process: NodeJS.Process, logger: Logger): (error: unknown) => void {
  const end = (error: unknown) => {
    // An operator can cure these by their message; the stack is for faults of ours.
    const isCurable = error instanceof ListenError || error instanceof StoreError;
    if (isCurable) logger.error(error.message);
    else logger.error('ending because of a fault', { error });
    process.exit(1);
  };
  process.on('unhandledRejection', end);
  process.on('uncaughtException', end);
  return end;
}

/** The first signal stops in order; a second one, or a stop that takes too long, ends the process at once. */
export function endOnSignals(
  process: NodeJS.Process,
  logger: Logger,
  {
    stop,
    withinMs,
  }: Pick<OrderlyStop<string>, 'withinMs'> & { readonly stop: () => Promise<void> },
): void {
  const ends$ = orderlyStop({
    signals$: fromSignals(process, SIGNALS),
    stop(signal) {
      logger.warn(`stopping on ${signal}`);
      return stop();
    },
    withinMs,
  }).pipe(
    map((end) => {
      logger.warn(ENDS[end]);
      return EXIT_CODES[end];
    }),
  );
  ends$.subscribe((code) => process.exit(code));
}
