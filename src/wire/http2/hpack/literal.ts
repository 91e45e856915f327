import { byteAt, createByteKey, latin1Text, putBytes, sampledHash } from '../../bytes';
import {
  createKnownStrings,
  isRepeated,
  keep,
  recall,
  recallLast,
  type KnownStrings,
} from '../../known-strings';
import { readInteger, refuse, type BlockReader } from './block-reader';
import { hasNoBlankEnds, isFieldValue, type HeaderField } from './header-field';
import { decodeHuffman, HAS_LONG_CODES, HUFFMAN_LENGTH, NOT_HUFFMAN } from './huffman-decode';
import { decodeCommonHuffman, measureHuffman, NOT_COMMON } from './huffman-states';

/** A string of a header block. */
export interface Literal {
  readonly text: string;
  /** How it is coded: the same bytes are another text in the other coding. */
  readonly isHuffman: boolean;
  /** Whether it is valid as a field's value. */
  readonly isValidValue: boolean;
  /** The field without a value that it names; created on first use. */
  asName: HeaderField | undefined;
  /** The last field with this value. */
  asValue: HeaderField | undefined;
}

export interface LiteralReader {
  /** Strings that repeat as literals (Envoy's `:path`). */
  readonly known: KnownStrings<Literal>;
  scratch: Uint8Array;
}

const SLOTS = 128;
const MAX_KEPT_BYTES = 128;
const NOTHING: Literal = {
  text: '',
  isHuffman: false,
  isValidValue: true,
  asName: undefined,
  asValue: undefined,
};

export function createLiteralReader(): LiteralReader {
  return { known: createKnownStrings(SLOTS), scratch: new Uint8Array(256) };
}

/** A string literal (RFC 7541 §5.2). The result is meaningless with a fault of the reader. */
export function readLiteral(literals: LiteralReader, reader: BlockReader): Literal {
  const isHuffman = nextIsHuffman(reader);
  const length = readLength(reader);
  const end = reader.at;
  const start = end - length;
  if (reader.fault !== undefined) return NOTHING;
  if (length > MAX_KEPT_BYTES) return decode(literals, reader, isHuffman, start, end);
  const { known } = literals;
  const last = recallLast(known, reader.bytes, start, length);
  if (last?.isHuffman === isHuffman) return last;
  const hash = sampledHash(reader.bytes, start, end);
  const found = recall(known, hash, reader.bytes, start, length);
  if (found?.isHuffman === isHuffman) return found;
  const literal = decode(literals, reader, isHuffman, start, end);
  if (literal !== NOTHING && isRepeated(known, hash))
    keep(known, hash, createByteKey(reader.bytes, start, end), literal);
  return literal;
}

/** Set by `measureLiteral` if the string is not valid as a field's value; the other bits are its length. */
export const BAD_VALUE = 0x20000000;
export const LITERAL_LENGTH = BAD_VALUE - 1;

/** The decoded length of a string literal, and BAD_VALUE. The result is meaningless with a fault of the reader. */
export function measureLiteral(literals: LiteralReader, reader: BlockReader): number {
  const isHuffman = nextIsHuffman(reader);
  const coded = readLength(reader);
  const length = isHuffman
    ? measureHuffman(reader.bytes, reader.at - coded, reader.at)
    : NOT_COMMON;
  return length === NOT_COMMON ? decodeToScratch(literals, reader, isHuffman, coded) : length;
}

/** As `measureLiteral`, with the string in `scratch`. */
export function decodeLiteral(literals: LiteralReader, reader: BlockReader): number {
  const isHuffman = nextIsHuffman(reader);
  return decodeToScratch(literals, reader, isHuffman, readLength(reader));
}

function decodeToScratch(
  literals: LiteralReader,
  reader: BlockReader,
  isHuffman: boolean,
  coded: number,
): number {
  if (coded === 0) return 0;
  const scratch = scratchFor(literals, coded);
  const start = reader.at - coded;
  const common = isHuffman
    ? decodeCommonHuffman(reader.bytes, start, reader.at, scratch)
    : NOT_COMMON;
  if (common !== NOT_COMMON) return common;
  const length = toScratch(reader, isHuffman, start, reader.at, scratch);
  if (length === NOT_HUFFMAN) return refuse(reader, 'a string is not a valid Huffman code');
  const decoded = length & HUFFMAN_LENGTH;
  return isValue(scratch, length) ? decoded : decoded | BAD_VALUE;
}

function nextIsHuffman({ bytes, at, end }: BlockReader): boolean {
  return at < end && (byteAt(bytes, at) & 0x80) !== 0;
}

/** Reads the length of a string and moves the reader to its end. */
function readLength(reader: BlockReader): number {
  if (reader.at >= reader.end) return refuse(reader, 'a string is missing');
  const length = readInteger(reader, 7);
  if (reader.fault !== undefined) return 0;
  if (reader.at + length > reader.end) {
    return refuse(reader, 'a string ends outside its header block');
  }
  reader.at += length;
  return length;
}

function decode(
  literals: LiteralReader,
  reader: BlockReader,
  huffman: boolean,
  start: number,
  end: number,
): Literal {
  if (start === end) return NOTHING;
  const scratch = scratchFor(literals, end - start);
  const length = toScratch(reader, huffman, start, end, scratch);
  if (length === NOT_HUFFMAN) {
    refuse(reader, 'a string is not a valid Huffman code');
    return NOTHING;
  }
  const text = latin1Text(scratch, 0, length & HUFFMAN_LENGTH);
  return {
    text,
    isHuffman: huffman,
    isValidValue: isValue(scratch, length),
    asName: undefined,
    asValue: undefined,
  };
}

/** Scratch memory for a string of `coded` bytes, Huffman coded or not. */
function scratchFor(literals: LiteralReader, coded: number): Uint8Array {
  const room = coded * 2;
  if (room > literals.scratch.length) literals.scratch = new Uint8Array(room);
  return literals.scratch;
}

/** Decodes a string into `scratch` and returns its length with HAS_LONG_CODES, or NOT_HUFFMAN. */
function toScratch(
  { bytes }: BlockReader,
  huffman: boolean,
  start: number,
  end: number,
  scratch: Uint8Array,
): number {
  if (huffman) return decodeHuffman(bytes, start, end, scratch);
  putBytes(scratch, 0, bytes.subarray(start, end));
  return (end - start) | HAS_LONG_CODES;
}

/** Whether the string that `toScratch` decoded is valid as a field's value. */
function isValue(scratch: Uint8Array, length: number): boolean {
  const decoded = length & HUFFMAN_LENGTH;
  return length === decoded ? hasNoBlankEnds(scratch, decoded) : isFieldValue(scratch, decoded);
}
