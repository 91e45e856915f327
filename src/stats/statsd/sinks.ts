import { connect, type Socket } from 'node:net';
import type { Sink } from '../sink';
import { type CallContext, socketCall, type Start } from './socket-call';
import { nameOf, type StatsdTarget } from './target';

/** One write: what a server that does not read leaves to be held. */
const MAX_BYTES = 16 * 1024;

/**
 * A server that stops reading and goes on is waited for, since a connection that is given up leaves
 * unknown what of its last write was read. One that stays away without a word costs a write this long.
 */
const STUCK_MS = 60_000;

/**
 * One connection, opened by the first write and again after a failure. Lines count as sent when the
 * system has taken them: StatsD does not confirm.
 */
export function createTcpSink(target: StatsdTarget): Sink {
  const { host, port, timeoutMs, stuckMs = STUCK_MS } = target;
  let open: Socket | undefined;

  const openSocket = async (signal: AbortSignal): Promise<Socket> => {
    const socket = connect({ host, port, keepAlive: true });
    // What the server says is of no interest; its end is, and an error between two flushes is one too.
    socket.resume();
    socket.on('error', () => undefined);
    await callOrDestroy({ socket, signal, timeoutMs }, (done) => {
      socket.once('connect', done);
    });
    return socket;
  };

  return {
    name: nameOf('tcp', target),
    maxBytes: MAX_BYTES,
    async send(lines, signal) {
      if (open?.writable !== true) open = await openSocket(signal);
      const socket = open;
      await callOrDestroy({ socket, signal, timeoutMs: stuckMs }, (done) => {
        socket.write(`${lines}\n`, done);
      });
    },
    rest: () => undefined,
    close() {
      open?.destroySoon();
    },
  };
}

async function callOrDestroy(
  context: CallContext & { readonly socket: Socket },
  start: Start,
): Promise<void> {
  try {
    await socketCall(context, start);
  } catch (error) {
    context.socket.destroy();
    throw error;
  }
}
