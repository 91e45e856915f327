import { once } from 'node:events';
import { fstatSync } from 'node:fs';
import { open, readFile, type FileHandle } from 'node:fs/promises';
import { finished } from 'node:stream/promises';
import { describeCode, errorCode } from '../platform/errors';
import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';

/** V8 stores longer strings separately, and frees them late. */
const CHUNK_BYTES = 32_768;

/** Opens the log. Rejects with an error that names the flag and the file. */
export async function openInput(path: string) {
  const handle = await openFile('-input', path, 'r');
  const about = await handle.stat();
  if (about.isDirectory()) {
    await handle.close();
    throw new Error(`-input ${path}: expected a file, it is a directory`);
  }
  return { stream: handle.createReadStream({ highWaterMark: CHUNK_BYTES }), bytes: about.size };
}

/** The reader of the standard output has gone. */
export class OutputUnread extends Error {
  override readonly name = 'OutputUnread';
}

const STANDARD_OUTPUT = 1;

/** Whether a file is where the standard output goes, as /dev/stdout is. */
async function isStandardOutput(handle: FileHandle): Promise<boolean> {
  const [own, output] = [await handle.stat(), fstatSync(STANDARD_OUTPUT)];
  return own.dev === output.dev && own.ino === output.ino;
}

/** Creates or empties the file of `-decisions`. Its methods reject with an error that names the flag and the file too. */
export async function openDecisions(path: string) {
  const handle = await openFile('-decisions', path, 'w');
  const isOutput = await isStandardOutput(handle);
  const stream = handle.createWriteStream();
  let failure: unknown;
  stream.on('error', (error) => {
    failure = error;
  });
  const attempt = async (act: () => Promise<unknown>): Promise<void> => {
    try {
      if (failure !== undefined) throw failure as Error;
      await act();
    } catch (error) {
      if (isOutput && errorCode(error) === 'EPIPE') throw new OutputUnread();
      throw cannot(`-decisions ${path}: cannot write the file`, error);
    }
  };
  return {
    write: async (text: string) => {
      if (failure !== undefined || !stream.write(text)) await attempt(() => once(stream, 'drain'));
    },
    close: () => attempt(() => finished(stream.end())),
  };
}

export async function readMap(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw cannot(`-map ${path}: cannot read the file`, error);
  }
}

async function openFile(flag: string, path: string, mode: 'r' | 'w'): Promise<FileHandle> {
  try {
    return await open(path, mode);
  } catch (error) {
    throw cannot(`${flag} ${path}: cannot open the file`, error);
  }
}

function cannot(what: string, error: unknown): Error {
  return new Error(`${what}: ${describeCode(errorCode(error))}`, { cause: error });
}

const BAR_WIDTH = 40;

/** Shows on a terminal how much of a log has been read, at each whole percent; `size` in bytes, undefined where it is unknown. */
export function createProgress(
  terminal: { write(text: string): unknown; readonly isTTY?: boolean },
  size: number | undefined,
) {
  const isShown = terminal.isTTY === true;
  let bytes = 0;
  let shown = '';
  const show = () => {
    const text =
      size === undefined ? `${megabytes(bytes)} read` : bar(size === 0 ? 1 : bytes / size);
    if (!isShown || text === shown) return;
    shown = text;
    terminal.write(`\r${text}`);
  };
  return {
    /** The text of a stream, piece by piece. */
    async *follow(source: Readable) {
      const decoder = new StringDecoder('utf8');
      for await (const chunk of source as AsyncIterable<Buffer>) {
        bytes += chunk.length;
        show();
        yield decoder.write(chunk);
      }
      yield decoder.end();
    },
    /** Removes the bar. */
    end() {
      if (shown !== '') terminal.write(`\r${' '.repeat(shown.length)}\r`);
    },
  };
}

function bar(share: number): string {
  const filled = Math.floor(share * BAR_WIDTH);
  const percent = String(Math.floor(share * 100)).padStart(3);
  return `[${'#'.repeat(filled)}${'.'.repeat(BAR_WIDTH - filled)}] ${percent} %`;
}

function megabytes(bytes: number): string {
  return `${String(Math.floor(bytes / 1_000_000))} MB`;
}
