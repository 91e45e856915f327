import { fromSignals, orderlyStop, type Snapshot, type StopEnd } from '../../../streams';
import { StoreError } from '../../core/errors';
import { createLogger, type Logger } from '../../platform/logger';
import { ListenError } from '../../platform/listen-address';

export const STOP_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/** Shorter than an operator's patience, longer than npm needs to forward a signal. */
const SAME_SIGNAL_MS = 300;

const ENDS: Readonly<Record<StopEnd, string>> = {
  stopped: 'stopped',
  interrupted: 'ended by a second signal, before everything was answered',
  late: 'ended because stopping took too long',
};

/**
 * Writes why the process cannot start, one line per problem, and ends it with 1. The lines are plain text, or those of the JSON
 * log. LOG_FORMAT is read leniently: it may be one of the problems. `hint` is for people only.
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
export function linesOf(error: unknown): readonly string[] {
  if (error instanceof AggregateError) return error.errors.flatMap(linesOf);
  const message = error instanceof Error ? error.message : String(error);
  return message.split('\n');
}

/** Whether an operator can act on an error's message; the stack is for internal faults. */
export function isCurable(error: unknown): error is Error {
  return (
    error instanceof ListenError || error instanceof StoreError || error instanceof OperatorError
  );
}

export interface Service {
  /** Rejects when the service gave up. */
  readonly done: Promise<unknown>;
  readonly lifecycle: Snapshot<Lifecycle>;
  readonly stop: () => Promise<void>;
}

/**
 * Creates a service and ties its life to that of the process. An unhandled error ends the process with 1. The first signal stops
 * the service; a later one, or a stop that takes longer than `stopWithinMs`, ends the process at once.
 */
export function runProcess<S extends Service>(
  process: NodeJS.Process,
  logger: Logger,
  stopWithinMs: number,
  create: () => S,
): S {
  const crash = (error: unknown) => {
    if (isCurable(error)) logger.error(error.message);
    else logger.error('exiting because of an unexpected error', { error });
    process.exit(1);
  };
  process.on('unhandledRejection', crash);
  process.on('uncaughtException', crash);
  const service = create();
  service.done.catch(crash);
  orderlyStop({
    signals$: fromSignals(process, STOP_SIGNALS),
    stop(signal) {
      logger.warn(`stopping on ${signal}`);
      return service.stop();
    },
    withinMs: stopWithinMs,
    sameWithinMs: SAME_SIGNAL_MS,
  }).subscribe((end) => {
    logger.warn(ENDS[end]);
    process.exit(exitCodeOf(service.lifecycle.current));
  });
  return service;
}

/**
 * The life of a service: until its ports are open, while it serves, after a signal to stop (calls are still answered), and once
 * everything has ended. Health, the drain and the exit code follow from it.
 */
export type Lifecycle = 'starting' | 'serving' | 'draining' | 'stopped';

/** Whether a signal to stop has come. */
export function isStopping(state: Lifecycle): boolean {
  return state === 'draining' || state === 'stopped';
}

/** 0 only after a completed stop. */
function exitCodeOf(state: Lifecycle): number {
  return state === 'stopped' ? 0 : 1;
}

/** An error that ends a worker and would end the next one too: its message tells an operator what to do. */
export class OperatorError extends Error {
  override readonly name = 'OperatorError';
}
