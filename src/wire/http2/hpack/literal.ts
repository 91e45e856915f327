import { copyOctets, octetAt, putOctets } from '../octets';
import { FieldKind, hasNoBlankEnds, isFieldValue } from './header-field';
import { decodeHuffman, HUFFMAN_LENGTH, NOT_HUFFMAN } from './huffman-decode';
import { latin1Text } from './latin1-text';
import { readInteger, refuse, type BlockReader } from './block-reader';
import { sameOctets, sampledHash } from './sampled-hash';

/** A string of a header block. */
export interface Literal {
  readonly text: string;
  /** Whether it may stand as a field's value. */
  readonly valueOk: boolean;
  /** What it means as a field's name, a number of `FieldKind`; found out when it is first asked for. */
  kind: number | undefined;
}

interface Remembered {
  readonly octets: Uint8Array;
  readonly huffman: boolean;
  readonly literal: Literal;
}

/**
 * Strings that come as literals again and again (Envoy's `:path`), by their octets. A string is remembered when
 * it is seen a second time, so that those which never repeat (`traceparent`) cost no memory and evict nothing.
 */
export interface LiteralReader {
  readonly remembered: (Remembered | undefined)[];
  /** Per slot: the hash of the last string that was not remembered. */
  readonly seenOnce: Int32Array;
  scratch: Uint8Array;
}

const SLOTS = 32;
const LONGEST_REMEMBERED = 128;
const NOTHING: Literal = { text: '', valueOk: true, kind: FieldKind.badName };

export function createLiteralReader(): LiteralReader {
  return {
    remembered: new Array<Remembered | undefined>(SLOTS).fill(undefined),
    seenOnce: new Int32Array(SLOTS).fill(-1),
    scratch: new Uint8Array(256),
  };
}

/** A string literal (RFC 7541 §5.2). With a fault of the reader the result has no meaning. */
export function readLiteral(literals: LiteralReader, reader: BlockReader): Literal {
  if (reader.at >= reader.end) return refuseLiteral(reader, 'a string is missing');
  const huffman = (octetAt(reader.bytes, reader.at) & 0x80) !== 0;
  const length = readInteger(reader, 7);
  const start = reader.at;
  const end = start + length;
  if (end > reader.end) return refuseLiteral(reader, 'a string ends outside its header block');
  reader.at = end;
  if (length > LONGEST_REMEMBERED) return decode(literals, reader, huffman, start, end);
  const hash = sampledHash(reader.bytes, start, end);
  const known = literals.remembered[hash & (SLOTS - 1)];
  if (
    known?.octets.length === length &&
    known.huffman === huffman &&
    sameOctets(known.octets, reader.bytes, start)
  ) {
    return known.literal;
  }
  const literal = decode(literals, reader, huffman, start, end);
  remember(literals, hash, reader, start, end, huffman, literal);
  return literal;
}

function remember(
  literals: LiteralReader,
  hash: number,
  reader: BlockReader,
  start: number,
  end: number,
  huffman: boolean,
  literal: Literal,
): void {
  const slot = hash & (SLOTS - 1);
  if (literals.seenOnce[slot] !== hash) {
    literals.seenOnce[slot] = hash;
  } else if (reader.fault === undefined) {
    literals.remembered[slot] = { octets: copyOctets(reader.bytes, start, end), huffman, literal };
  }
}

function decode(
  literals: LiteralReader,
  reader: BlockReader,
  huffman: boolean,
  start: number,
  end: number,
): Literal {
  if (start === end) return NOTHING;
  const room = (end - start) * 2;
  if (room > literals.scratch.length) literals.scratch = new Uint8Array(room);
  const { scratch } = literals;
  if (huffman) return decodeCoded(reader, start, end, scratch);
  putOctets(scratch, 0, reader.bytes.subarray(start, end));
  return toLiteral(scratch, end - start, isFieldValue(scratch, end - start));
}

function decodeCoded(
  reader: BlockReader,
  start: number,
  end: number,
  scratch: Uint8Array,
): Literal {
  const decoded = decodeHuffman(reader.bytes, start, end, scratch);
  if (decoded === NOT_HUFFMAN) return refuseLiteral(reader, 'a string is no valid huffman code');
  const length = decoded & HUFFMAN_LENGTH;
  const plain = decoded === length;
  return toLiteral(
    scratch,
    length,
    plain ? hasNoBlankEnds(scratch, length) : isFieldValue(scratch, length),
  );
}

function toLiteral(scratch: Uint8Array, length: number, valueOk: boolean): Literal {
  return { text: latin1Text(scratch, 0, length), valueOk, kind: undefined };
}

function refuseLiteral(reader: BlockReader, fault: string): Literal {
  refuse(reader, fault);
  return NOTHING;
}
