import { byteAt } from '../../bytes';

/** A header block being read. `fault` says what is wrong with it: a COMPRESSION_ERROR (RFC 9113 §4.3). */
export interface BlockReader {
  bytes: Uint8Array;
  at: number;
  end: number;
  fault: string | undefined;
}

export function beginReading(
  reader: BlockReader,
  bytes: Uint8Array,
  start: number,
  end: number,
): void {
  reader.bytes = bytes;
  reader.at = start;
  reader.end = end;
  reader.fault = undefined;
}

/** Larger than any length or index that a header needs, small enough to stay exact. */
const MAX_INTEGER = 0x0fffffff;
const MAX_SHIFT = 28;

/**
 * An integer whose first byte (which the caller knows to exist) holds `prefixBits` bits of it (RFC 7541 §5.1).
 * The result is meaningless with a fault.
 */
export function readInteger(reader: BlockReader, prefixBits: number): number {
  const largestInPrefix = (1 << prefixBits) - 1;
  const prefix = byteAt(reader.bytes, reader.at++) & largestInPrefix;
  return prefix < largestInPrefix ? prefix : readLongInteger(reader, prefix);
}

function readLongInteger(reader: BlockReader, prefix: number): number {
  let value = prefix;
  for (let shift = 0; shift < MAX_SHIFT; shift += 7) {
    if (reader.at >= reader.end) return refuse(reader, 'an integer ends outside its header block');
    const byte = byteAt(reader.bytes, reader.at++);
    value += (byte & 0x7f) << shift;
    if (byte < 0x80) {
      return value <= MAX_INTEGER ? value : refuse(reader, 'an integer is too large');
    }
  }
  return refuse(reader, 'an integer is too long');
}

/** Notes the first fault and ends the reading. */
export function refuse(reader: BlockReader, fault: string): number {
  reader.fault ??= fault;
  reader.at = reader.end;
  return 0;
}
