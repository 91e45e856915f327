import type { Readable } from 'node:stream';

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
