import type { Readable } from 'node:stream';

/** Messages that one turn of the event loop takes. */
const MESSAGES_OF_TURN = 32;

/**
 * Hands on what comes, so many messages in a turn of the event loop. A stream gives all that has arrived at once: thousands,
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
