import type { Readable } from 'node:stream';
import { describeCode, errorCode } from './errors';

/** All of an input of a command, also of a pipe that is slow to begin; undefined when it is larger. Rejects when it cannot be read. */
export async function readInput(
  input: Readable,
  maxBytes: number,
): Promise<Uint8Array | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of input as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** 128 and SIGPIPE, which Node ignores: the exit code that shells show for a command whose reader has gone. */
export const READER_GONE = 141;

type Output = Pick<NodeJS.Process, 'stdout' | 'stderr' | 'exit'>;

/**
 * Ends a command that prints when its output cannot be written: silently when its reader has gone (`… | head -1`), as other
 * commands end, else with one line, such as that the disk is full. Services continue: what they print is a greeting.
 */
export function endWithReader({ stdout, stderr, exit }: Output): void {
  const end = (error: unknown, say: (line: string) => void): void => {
    const code = errorCode(error);
    if (code === 'EPIPE') exit(READER_GONE);
    say(`cannot write the output: ${describeCode(code)}\n`);
    exit(1);
  };
  stdout.on('error', (error) => {
    end(error, (line) => stderr.write(line));
  });
  // Nothing is left to say it on.
  stderr.on('error', (error) => {
    end(error, () => undefined);
  });
}
