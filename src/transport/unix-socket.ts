import { rm, stat } from 'node:fs/promises';
import { connect } from 'node:net';
import { ListenError } from '../platform/listen-address';

/**
 * Removes the socket file that a killed process left behind, so that a restart can listen again. Rejects
 * when somebody answers there, and when the file is none of ours to remove.
 */
export async function removeStaleSocket(address: { readonly path: string }): Promise<void> {
  const { path } = address;
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) return;
  if (!found.isSocket()) {
    throw new ListenError(address, new Error('path exists and is not a socket'));
  }
  if (await isAnswered(path)) {
    throw new ListenError(address, new Error('another process listens there'));
  }
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
