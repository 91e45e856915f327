import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Calls of a connection that wait for the answer to one before them. */
const MAX_WAITING = 16;

/** Cuts a connection on which more calls wait: one packet holds thousands, and to refuse each takes its time too. */
export function boundPipeline(handle: RequestListener): RequestListener {
  const waiting = new WeakMap<Socket, number>();
  const add = (socket: Socket, count: number): number => {
    const now = (waiting.get(socket) ?? 0) + count;
    waiting.set(socket, now);
    return now;
  };
  return (request: IncomingMessage, response: ServerResponse & { req: IncomingMessage }) => {
    const { socket } = request;
    // What else its last packet held.
    if (socket.destroyed) return;
    if (response.socket === null) {
      if (add(socket, 1) > MAX_WAITING) {
        socket.destroy();
        return;
      }
      response.once('close', () => add(socket, -1));
    }
    handle(request, response);
  };
}
