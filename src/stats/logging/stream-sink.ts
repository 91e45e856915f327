import type { Writable } from 'node:stream';
import type { Sink } from '../sink';

const MAX_BYTES = 16 * 1024;

/** Writes to a stream that belongs to somebody else; a broken pipe ends nothing but the flush. */
export function createStreamSink(out: Writable): Sink {
  const ignore = () => undefined;
  out.on('error', ignore);
  return {
    name: 'standard output',
    maxBytes: MAX_BYTES,
    send: (lines, signal) =>
      new Promise((resolve, reject) => {
        const aborted = () => {
          reject(new Error('the flush was cancelled'));
        };
        signal.addEventListener('abort', aborted);
        out.write(`${lines}\n`, (error) => {
          signal.removeEventListener('abort', aborted);
          if (error) reject(error);
          else resolve();
        });
      }),
    rest: ignore,
    close() {
      out.off('error', ignore);
    },
  };
}
