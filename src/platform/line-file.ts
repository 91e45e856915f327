import { closeSync, constants, fstatSync, openSync, write } from 'node:fs';

/** Takes lines without ever blocking: what the file does not take in time is dropped. */
export interface LineFile {
  write(line: string): void;
  /** Settles when everything that was taken is written, or dropped `withinMs` later. */
  close(withinMs: number): Promise<void>;
}

export interface LineFileOptions {
  /** Undefined: standard output. Lines are appended. */
  readonly path: string | undefined;
  /** Most bytes that wait to be written. */
  readonly maxBytes: number;
  readonly onDropped: () => void;
  /** The file cannot be written now; the lines that it should have taken are dropped. */
  readonly onError: (error: Error) => void;
}

const STANDARD_OUTPUT = 1;
const NOTHING = Buffer.alloc(0);
/** Lines hold values of descriptors. */
const MODE = 0o640;
const NEWLINE = 0x0a;
/** From a pipe that is full to the next try. */
const RETRY_MS = 20;
/** So many bytes at most go into a pipe whole, between those of other processes (PIPE_BUF of Linux). */
const MAX_PIPE_BYTES = 4_096;
const MAX_WRITE_BYTES = 65_536;
/**
 * Without it a pipe whose reader stands still holds a thread of the process, which could not even end; and a FIFO without a
 * reader would hold the start.
 */
const { O_NONBLOCK } = constants;
const APPENDING = constants.O_WRONLY | constants.O_APPEND | O_NONBLOCK;

/** Throws when the file cannot be opened, ENXIO for a FIFO without a reader. */
export function openLineFile({ path, maxBytes, onDropped, onError }: LineFileOptions): LineFile {
  const fd =
    path === undefined ? openStandardOutput() : openSync(path, APPENDING | constants.O_CREAT, MODE);
  const isFile = fstatSync(fd).isFile();
  const maxWriteBytes = isFile ? MAX_WRITE_BYTES : MAX_PIPE_BYTES;
  const waiting: string[] = [];
  /** What is being written, or what of it is left. */
  let chunk: Buffer = NOTHING;
  let waitingBytes = 0;
  let isBusy = false;
  /** It comes back at once, unless a disk hangs. */
  let isWriting = false;
  /** The file ends within a line. */
  let isCut = false;
  let whenIdle: (() => void) | undefined;
  let whenWritten: (() => void) | undefined;

  const writeNext = (): void => {
    if (chunk.length === 0) {
      chunk = takeLines(waiting, maxWriteBytes, isCut);
      waitingBytes = Math.max(0, waitingBytes - chunk.length);
    }
    isBusy = chunk.length > 0;
    isWriting = isBusy;
    if (isBusy) write(fd, chunk, onWritten);
    else whenIdle?.();
  };
  const onWritten = (error: NodeJS.ErrnoException | null, written: number): void => {
    isWriting = false;
    const isFull = error?.code === 'EAGAIN';
    if (error === null && written > 0) {
      isCut = chunk[written - 1] !== NEWLINE;
      chunk = chunk.subarray(written);
    } else if (error !== null && !isFull) {
      onError(error);
      dropChunk();
    }
    if (whenWritten !== undefined) whenWritten();
    else if (isFull) setTimeout(writeNext, RETRY_MS).unref();
    else writeNext();
  };
  const dropChunk = (): void => {
    for (let i = 1; i < chunk.length; i++) if (chunk[i] === NEWLINE) onDropped();
    chunk = NOTHING;
  };

  return {
    write(line) {
      const size = Buffer.byteLength(line);
      if (whenIdle !== undefined || waitingBytes + chunk.length + size > maxBytes) {
        onDropped();
        return;
      }
      waitingBytes += size;
      waiting.push(line);
      if (!isBusy) writeNext();
    },
    close: (withinMs) =>
      new Promise((resolve) => {
        const end = (): void => {
          clearTimeout(deadline);
          dropChunk();
          waiting.splice(0).forEach(onDropped);
          // What is under way comes back here.
          if (path !== undefined && !isBusy) closeSync(fd);
          resolve();
        };
        const endInTime = (): void => {
          // Not yet known whether a pipe takes these lines; a file of a disk that hangs would hold the end.
          if (!isWriting || isFile) end();
          else
            whenWritten = () => {
              isBusy = false;
              end();
            };
        };
        const deadline = setTimeout(endInTime, withinMs);
        whenIdle = end;
        if (!isBusy) end();
      }),
  };
}

/** At least one line, as long as one waits. After a line that was cut it does not go on in the middle of it. */
function takeLines(waiting: string[], maxBytes: number, isCut: boolean): Buffer {
  let size = 0;
  let count = 0;
  for (const line of waiting) {
    size += Buffer.byteLength(line);
    if (count > 0 && size > maxBytes) break;
    count += 1;
  }
  if (count === 0) return NOTHING;
  return Buffer.from((isCut ? '\n' : '') + waiting.splice(0, count).join(''));
}

function openStandardOutput(): number {
  const kind = fstatSync(STANDARD_OUTPUT);
  if (!kind.isFIFO() && !kind.isSocket()) return STANDARD_OUTPUT;
  try {
    return openSync('/proc/self/fd/1', APPENDING);
  } catch {
    // A socket, another user's pipe, a system without /proc. Node does the same when it opens its own stream, for all that share it.
    return process.stdout.fd;
  }
}
