import cluster from 'node:cluster';
import type { Server, Socket } from 'node:net';

/**
 * Closes connections beyond `maxConnections` as soon as they are accepted. A worker of a cluster must do so itself: the primary
 * offers connections that `maxConnections` refuses to the other workers again and again.
 */
export function limitConnections(server: Server, maxConnections: number): void {
  if (!cluster.isWorker) {
    server.maxConnections = maxConnections;
    return;
  }
  let open = 0;
  server.on('connection', (socket: Socket) => {
    open += 1;
    socket.once('close', () => (open -= 1));
    if (open > maxConnections) socket.destroy();
  });
}
