import { type StoreError } from '../../core/errors';
import { createReplyDeadline, type ReplyDeadlineDeps } from '../connection/reply-deadline';

/** One pending command, whose reply ends with a line that is not a value. */
export interface PendingCommand {
  onValue?(key: string, data: string): void;
  onLine(line: string): void;
  /** The connection was lost before the reply was complete. */
  onLost(error: StoreError): void;
}

interface Waiting {
  readonly command: PendingCommand;
  readonly startedMs: number;
}

/** Empty slots at the front of the list before it is compacted. */
const COMPACT_AT = 1_024;

/** The pending commands of one connection, in order. */
export function createCommandsInFlight(
  { monotonicMs, onTimeout }: Omit<ReplyDeadlineDeps, 'oldestSinceMs'>,
  timeoutMs: number,
) {
  let waiting: Waiting[] = [];
  let first = 0;
  const oldestSinceMs = (): number | undefined => waiting[first]?.startedMs;
  const deadline = createReplyDeadline({ monotonicMs, oldestSinceMs, onTimeout }, timeoutMs);

  return {
    get size() {
      return waiting.length - first;
    },
    get oldest() {
      return waiting[first]?.command;
    },
    push(command: PendingCommand) {
      waiting.push({ command, startedMs: monotonicMs() });
      deadline.watch();
    },
    /** The oldest, whose reply is complete. */
    shift() {
      const { command } = waiting[first] ?? {};
      if (command === undefined) return undefined;
      first += 1;
      if (first === waiting.length || first >= COMPACT_AT) {
        waiting = waiting.slice(first);
        first = 0;
      }
      return command;
    },
    /** Fails every command; no time-outs follow. */
    failAll(error: StoreError) {
      deadline.stop();
      const all = waiting.slice(first);
      waiting = [];
      first = 0;
      for (const { command } of all) command.onLost(error);
    },
  };
}
