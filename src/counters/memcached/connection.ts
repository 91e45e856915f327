import { type Socket } from 'node:net';
import { type StoreError } from '../../core/errors';
import { toReason } from '../../platform/errors';
import { createExchanges, type Exchange } from './exchanges';
import { createReplyReader } from './reply-reader';
import { type NodeErrors } from './store-errors';

/** A connection on which commands are sent one behind the other without waiting for replies. */
export interface Link {
  /** Commands that wait for their replies. */
  readonly size: number;
  /** Bytes that wait for a server that does not read. */
  readonly unsentBytes: number;
  /** Resolves with the reason when it takes no more; never rejects. */
  readonly ended: Promise<string>;
  /** One write; the exchanges are those of its commands, in order. A link that has ended fails them. */
  send(commands: string, exchanges: readonly Exchange[]): void;
  /** Ends when nothing waits any more. */
  endWhenIdle(): void;
  /** Ends now; what waits fails. */
  destroy(reason: string): void;
}

export interface LinkOptions {
  readonly errors: NodeErrors;
  readonly timeoutMs: number;
  readonly monotonicMs: () => number;
}

/** Takes a connected socket over; see `Link`. */
export function createLink(socket: Socket, options: LinkOptions): Link {
  const { errors, timeoutMs, monotonicMs } = options;
  let end: StoreError | undefined;
  let fault: string | undefined;
  let isRetiring = false;
  let tellEnded: (reason: string) => void = () => undefined;
  const ended = new Promise<string>((resolve) => {
    tellEnded = resolve;
  });

  const endWith = (error: StoreError, reason: string): void => {
    if (end !== undefined) return;
    end = error;
    socket.destroy();
    exchanges.failAll(error);
    tellEnded(reason);
  };
  const lose = (reason: string): void => {
    endWith(errors.lost(reason), reason);
  };
  const endIfIdle = (): void => {
    if (!isRetiring || exchanges.size > 0 || end !== undefined) return;
    lose('closed by us');
  };

  const exchanges = createExchanges(
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
    onValue: (key, data) => exchanges.oldest?.onValue?.(key, data),
    onLine: (line) => {
      const exchange = exchanges.shift();
      if (exchange === undefined) throw new Error('it said something that nobody asked for');
      exchange.onLine(line);
    },
  });

  socket.setNoDelay(true);
  socket.on('data', (chunk) => {
    // What a reply calls for goes out in one write.
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
    get size() {
      return exchanges.size;
    },
    get unsentBytes() {
      return socket.writableLength;
    },
    ended,
    send(commands, ofCommands) {
      if (end !== undefined) {
        for (const exchange of ofCommands) exchange.onLost(end);
        return;
      }
      for (const exchange of ofCommands) exchanges.push(exchange);
      socket.write(commands);
    },
    endWhenIdle() {
      isRetiring = true;
      endIfIdle();
    },
    destroy: lose,
  };
}
