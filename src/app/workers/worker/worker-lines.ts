import { openLineFile, type LineFile, type LineFileOptions } from '../../../platform/line-file';
import type { FromWorker } from '../messages';

/** Settles when the channel has accepted the message. */
type Send = (message: FromWorker) => Promise<void>;

/** Several processes write longer lines into one pipe in pieces, which mix. */
const MAX_LINE_BYTES = 4_096;
/** Bytes of the log on their way to the owner. */
const MAX_LOG_BYTES = 1_048_576;

/**
 * Writes the log of a worker: short lines directly, long ones through its owner. If that does not read them, they are written
 * directly too: a line mixed with another is better than a lost one.
 */
export function createLogWriter(send: Send, write: (line: string) => void): (line: string) => void {
  const toOwner = createLineSender((line) => send({ kind: 'log', line }), {
    maxBytes: MAX_LOG_BYTES,
    onFull: write,
  });
  return (line) => {
    if (Buffer.byteLength(line) <= MAX_LINE_BYTES) write(line);
    else toOwner.write(line);
  };
}

/**
 * The destination of a worker's decision log. Lines appended to a file never mix, whichever process writes them. Standard output
 * may be a pipe: the owner writes all lines there.
 */
export function openDecisionLines(send: Send): (options: LineFileOptions) => LineFile {
  const sendLine = (line: string) => send({ kind: 'decision', line });
  return (options) => {
    const { path, maxBytes, onDropped } = options;
    if (path !== undefined) return openLineFile(options);
    return createLineSender(sendLine, { maxBytes, onFull: onDropped });
  };
}

interface LineSenderOptions {
  readonly maxBytes: number;
  /** Called for a line that finds `maxBytes` in transit. */
  readonly onFull: (line: string) => void;
}

function createLineSender(
  sendLine: (line: string) => Promise<void>,
  { maxBytes, onFull }: LineSenderOptions,
): LineFile {
  let waitingBytes = 0;
  let last = Promise.resolve();
  return {
    write(line) {
      const bytes = Buffer.byteLength(line);
      if (waitingBytes + bytes > maxBytes) {
        onFull(line);
        return;
      }
      waitingBytes += bytes;
      last = sendLine(line).then(() => {
        waitingBytes -= bytes;
      });
    },
    // The channel delivers messages in order, and ends with the process.
    close: () => last,
  };
}
