import { createDifferences } from '../../../stats/differences';
import type { Registry } from '../../../stats/registry';
import type { FromWorker } from '../messages';
import { openLineFile, type LineFile, type LineFileOptions } from '../../../platform/line-file';

/**
 * Sends this worker's counts to the owner. Every report is also a heartbeat. `send` settles when the channel has accepted the
 * message: an owner that does not read gets nothing more.
 */
export function createReporter(registry: Registry, send: (message: FromWorker) => Promise<void>) {
  const differences = createDifferences(registry);
  let asked: number[] = [];
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;

  const report = async (): Promise<void> => {
    const ids = asked;
    asked = [];
    for await (const part of differences()) await send({ kind: 'counted', differences: part });
    await send({ kind: 'gauges', gauges: registry.readGauges() });
    for (const id of ids) await send({ kind: 'collected', id });
  };
  const start = (): Promise<void> => {
    next = undefined;
    running = report().finally(() => (running = undefined));
    return running;
  };
  return {
    /** Reports soon; calls during a report cause one more. Settles when it is sent. */
    report(id?: number) {
      if (id !== undefined) asked.push(id);
      if (running === undefined) return start();
      return (next ??= running.then(start));
    },
  };
}

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
