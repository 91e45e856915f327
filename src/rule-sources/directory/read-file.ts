import { constants } from 'node:fs';
import { open } from 'node:fs/promises';

/** Larger than the reads of a slow disk, small enough not to stall. */
const PIECE_BYTES = 262_144;

/** Reads at most `maxBytes` of a file; undefined when it is larger. Rejects with the system's error. */
export async function readBounded(
  path: Buffer,
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  // A name may have become a pipe since it was checked; opening that must not wait for a writer.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const { size } = await file.stat();
    if (size > maxBytes) return undefined;
    let bytes = new Uint8Array(size + 1);
    let length = 0;
    for (;;) {
      const piece = Math.min(PIECE_BYTES, bytes.length - length);
      const { bytesRead } = await file.read(bytes, length, piece, null);
      if (bytesRead === 0) return bytes.slice(0, length);
      length += bytesRead;
      if (length > maxBytes) return undefined;
      if (length === bytes.length) {
        const larger = new Uint8Array(length + PIECE_BYTES);
        larger.set(bytes);
        bytes = larger;
      }
    }
  } finally {
    await file.close();
  }
}
