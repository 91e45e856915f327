import type { EventEmitter } from 'node:events';
import { toReason } from '../../platform/errors';

export interface CallContext {
  /** The socket of the call: its error or end is the call's. */
  readonly socket: EventEmitter;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** Begins the call; `done` is called when it has ended, with an error when it failed. */
export type StartCall = (done: (error?: Error | null) => void) => void;

/** Runs one call of a socket: settles when it has ended, the socket fails or closes, its time is over or its result is no longer wanted. */
export function socketCall({ socket, signal, timeoutMs }: CallContext, start: StartCall) {
  return new Promise<void>((resolve, reject) => {
    const settle = (error?: Error | null) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', aborted);
      socket.off('error', settle);
      socket.off('close', closed);
      if (error) reject(new Error(toReason(error), { cause: error }));
      else resolve();
    };
    const closed = () => {
      settle(new Error('the connection was closed'));
    };
    const aborted = () => {
      settle(new Error('the flush was cancelled'));
    };
    const timer = setTimeout(() => {
      settle(new Error(`nothing was accepted for ${timeoutMs.toString()} ms`));
    }, timeoutMs);
    socket.once('error', settle);
    socket.once('close', closed);
    signal.addEventListener('abort', aborted);
    if (signal.aborted) aborted();
    else start(settle);
  });
}
