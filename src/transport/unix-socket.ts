import { rm, stat } from 'node:fs/promises';
import { connect } from 'node:net';

/**
 * Removes the socket file that a killed process left behind, so that a restart can listen again.
 * A file that is no socket, and a socket that somebody answers on, stay: listening then fails.
 */
export async function removeStaleSocket(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isSocket() !== true) return;
  if (await isAnswered(path)) return;
  await rm(path, { force: true });
}

function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', (error: NodeJS.ErrnoException) => {
      resolve(error.code !== 'ECONNREFUSED');
    });
  });
}
