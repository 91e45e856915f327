import type { MessageWriter } from '../http2/api';
import { PREFIX_BYTES } from './body';

/** A writer that puts the gRPC prefix before what `write` writes. */
export function framed<R>(
  write: (message: R, out: Uint8Array, at: number) => number,
): MessageWriter<R> {
  return (message, out, at) => {
    const end = write(message, out, at + PREFIX_BYTES);
    writePrefix(out, at, end - at - PREFIX_BYTES);
    return end;
  };
}

/** A copy of `message` with its prefix. */
export function framedCopy(message: Uint8Array): Uint8Array {
  const copy = new Uint8Array(PREFIX_BYTES + message.length);
  writePrefix(copy, 0, message.length);
  copy.set(message, PREFIX_BYTES);
  return copy;
}

function writePrefix(out: Uint8Array, at: number, length: number): void {
  out[at] = 0;
  out[at + 1] = length >>> 24;
  out[at + 2] = length >>> 16;
  out[at + 3] = length >>> 8;
  out[at + 4] = length;
}
