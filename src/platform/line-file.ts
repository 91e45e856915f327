import { closeSync, constants, fstatSync, openSync, write } from 'node:fs';

/** Accepts lines without ever blocking: lines that the file does not accept in time are dropped. */
export interface LineFile {
  write(line: string): void;
  /** Settles when everything accepted is written, or dropped `withinMs` later. */
  close(withinMs: number): Promise<void>;
}

export interface LineFileOptions {
  /** Undefined: standard output. Lines are appended. */
  readonly path: string | undefined;
  /** Maximum of queued bytes. */
  readonly maxBytes: number;
  readonly onDropped: () => void;
  /** The file cannot be written now; its lines are dropped. */
  readonly onError: (error: Error) => void;
}

const STANDARD_OUTPUT = 1;
const NOTHING = Buffer.alloc(0);
/** Lines contain values of descriptors. */
const MODE = 0o640;
const NEWLINE = 0x0a;
/** Wait before retrying a full pipe. */
const RETRY_MS = 20;
/** Writes of up to this size into a pipe are not mixed with those of other processes (PIPE_BUF of Linux). */
const MAX_PIPE_BYTES = 4_096;
const MAX_WRITE_BYTES = 65_536;
/**
 * Without it a pipe whose reader is stalled blocks a thread of the process, which could not even end; and a FIFO without a reader
 * would block the start.
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
  /** The current write, or the rest of it. */
  let chunk: Buffer = NOTHING;
  let waitingBytes = 0;
  let isBusy = false;
  /** It returns at once, unless a disk hangs. */
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
          // A write in progress returns here.
          if (path !== undefined && !isBusy) closeSync(fd);
          resolve();
        };
        const endInTime = (): void => {
          // Not yet known whether a pipe accepts these lines; a file of a disk that hangs would block the end.
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

/** At least one line, as long as one is queued. After a cut line it does not continue in the middle of it. */
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
    // A socket, another user's pipe, a system without /proc. Node does the same when it opens its own stream, for all that share
    // it.
    return process.stdout.fd;
  }
}
