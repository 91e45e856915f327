import type { Socket } from 'node:net';
import type { StoreError } from '../../core/errors';
import { toReason } from '../../platform/errors';
import {
  type KeptConnection,
  createReplyDeadline,
  type ReplyDeadlineDeps,
} from '../connection/kept-connection';
import { createReplyReader } from './protocol';
import type { NodeErrors } from './store-errors';

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
function createCommandsInFlight(
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

export interface NodeConnection {
  readonly kept: Pick<KeptConnection<MemcachedConnection>, 'current' | 'reason'>;
  readonly errors: NodeErrors;
}

export interface MemcachedConnectionOptions {
  readonly errors: NodeErrors;
  readonly timeoutMs: number;
  readonly monotonicMs: () => number;
}

/** Takes over a connected socket. */
export function createMemcachedConnection(socket: Socket, options: MemcachedConnectionOptions) {
  const { errors, timeoutMs, monotonicMs } = options;
  let end: StoreError | undefined;
  let fault: string | undefined;
  let isClosing = false;
  let replies = 0;
  let resolveRetired: (reason: string) => void = () => undefined;
  const retired = new Promise<string>((resolve) => {
    resolveRetired = resolve;
  });

  const endWith = (error: StoreError, reason: string): void => {
    if (end !== undefined) return;
    end = error;
    socket.destroy();
    inFlight.failAll(error);
    resolveRetired(reason);
  };
  const lose = (reason: string): void => {
    endWith(errors.lost(reason), reason);
  };
  const endIfIdle = (): void => {
    if (!isClosing || inFlight.size > 0 || end !== undefined) return;
    lose('closed by this service');
  };

  const inFlight = createCommandsInFlight(
    {
      monotonicMs,
      onTimeout: () => {
        const error = errors.timeout(timeoutMs);
        endWith(error, error.message);
      },
    },
    timeoutMs,
  );
  const reader = createReplyReader({
    onValue: (key, data) => inFlight.oldest?.onValue?.(key, data),
    onLine: (line) => {
      const command = inFlight.shift();
      if (command === undefined) throw new Error('unexpected reply');
      replies += 1;
      command.onLine(line);
    },
  });

  socket.setNoDelay(true);
  socket.on('data', (chunk) => {
    // Sends the commands that replies trigger in one write.
    socket.cork();
    try {
      reader.read(chunk);
    } catch (error) {
      lose(toReason(error));
    }
    socket.uncork();
    endIfIdle();
  });
  socket.on('error', (error) => {
    fault = toReason(error);
  });
  socket.on('close', () => {
    lose(fault ?? 'closed by the server');
  });

  return {
    /** Number of pending commands. */
    get size() {
      return inFlight.size;
    },
    /** Unsent bytes, of a server that does not read. */
    get unsentBytes() {
      return socket.writableLength;
    },
    retired,
    get hasServed() {
      // The first reply is that to `version`.
      return replies > 1;
    },
    /** Sends commands in order, in one write. On an ended connection they fail. */
    send(text: string, commands: readonly PendingCommand[]) {
      if (end !== undefined) {
        for (const command of commands) command.onLost(end);
        return;
      }
      for (const command of commands) inFlight.push(command);
      socket.write(text);
    },
    /** Ends when no command is pending any more. */
    endWhenIdle() {
      isClosing = true;
      endIfIdle();
    },
    destroy: lose,
  };
}

/** A connection on which commands are pipelined: sent without waiting for replies. */
export type MemcachedConnection = ReturnType<typeof createMemcachedConnection>;
