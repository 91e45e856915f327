import type { Readable } from 'node:stream';

/** Messages per turn of the event loop. */
const MESSAGES_OF_TURN = 32;

/**
 * Passes messages on, a bounded number per turn of the event loop. A stream delivers all that have arrived at once: thousands,
 * where they are empty.
 */
export function readByTurns(
  stream: Pick<Readable, 'on' | 'pause' | 'resume'>,
  take: (bytes: Buffer) => void,
): void {
  let taken = 0;
  stream.on('data', (bytes: Buffer) => {
    taken += 1;
    if (taken === 1)
      setImmediate(() => {
        taken = 0;
        stream.resume();
      });
    if (taken === MESSAGES_OF_TURN) stream.pause();
    take(bytes);
  });
}
