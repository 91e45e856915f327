import { openLineFile, type LineFile, type LineFileOptions } from '../../platform/line-file';
import type { FromWorker } from './messages';

/**
 * Where a worker writes its decision log. Lines appended to a file never mix, whichever process writes them. Standard output
 * may be a pipe, which mixes what several processes write: the owner writes all lines there.
 */
export function openWorkerLines(
  send: (message: FromWorker) => Promise<void>,
): (options: LineFileOptions) => LineFile {
  return (options) =>
    options.path === undefined ? linesToOwner(send, options) : openLineFile(options);
}

function linesToOwner(
  send: (message: FromWorker) => Promise<void>,
  { maxBytes, onDropped }: LineFileOptions,
): LineFile {
  let waitingBytes = 0;
  let last = Promise.resolve();
  return {
    write(line) {
      const bytes = Buffer.byteLength(line);
      if (waitingBytes + bytes > maxBytes) {
        onDropped();
        return;
      }
      waitingBytes += bytes;
      last = send({ kind: 'decision', line }).then(() => {
        waitingBytes -= bytes;
      });
    },
    // The channel takes messages in order, and ends with the process.
    close: () => last,
  };
}
