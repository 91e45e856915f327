import { octetAt, putOctets } from '../octets';
import { hasNoBlankEnds, isFieldValue, type HeaderField } from './header-field';
import { decodeHuffman, HAS_LONG_CODES, HUFFMAN_LENGTH, NOT_HUFFMAN } from './huffman-decode';
import { NOT_SKIMMED, skimHuffman } from './huffman-skim';
import { unpackHuffman } from './huffman-unpack';
import { latin1Text } from './latin1-text';
import { readInteger, refuse, type BlockReader } from './block-reader';
import { createOctetKey, isKey, type OctetKey } from '../../octet-key';
import { sampledHash } from './sampled-hash';

/** A string of a header block. */
export interface Literal {
  readonly text: string;
  /** Whether it may stand as a field's value. */
  readonly valueOk: boolean;
  /** The field without a value that it names; made when it is first asked for. */
  asName: HeaderField | undefined;
  /** The last field whose value it was. */
  asValue: HeaderField | undefined;
}

interface Remembered {
  readonly key: OctetKey;
  readonly huffman: boolean;
  readonly literal: Literal;
}

/**
 * Strings that come as literals again and again (Envoy's `:path`), by their octets. A string is remembered when
 * it is seen a second time, so that those which never repeat (a signed `:authority`) cost no memory and evict nothing.
 */
export interface LiteralReader {
  readonly remembered: (Remembered | undefined)[];
  /** Per slot: the hash of the last string that was not remembered. */
  readonly seenOnce: Int32Array;
  /** The one that was found last: in most blocks it is the only one. */
  last: Remembered | undefined;
  scratch: Uint8Array;
}

const SLOTS = 128;
const LONGEST_REMEMBERED = 128;
const NOTHING: Literal = { text: '', valueOk: true, asName: undefined, asValue: undefined };

export function createLiteralReader(): LiteralReader {
  return {
    remembered: new Array<Remembered | undefined>(SLOTS).fill(undefined),
    seenOnce: new Int32Array(SLOTS).fill(-1),
    last: undefined,
    scratch: new Uint8Array(256),
  };
}

/** A string literal (RFC 7541 §5.2). With a fault of the reader the result has no meaning. */
export function readLiteral(literals: LiteralReader, reader: BlockReader): Literal {
  const isHuffman = nextIsHuffman(reader);
  const length = readLength(reader);
  const end = reader.at;
  const start = end - length;
  if (reader.fault !== undefined) return NOTHING;
  if (length > LONGEST_REMEMBERED) return decode(literals, reader, isHuffman, start, end);
  const { last } = literals;
  if (isKnown(last, isHuffman, length, reader.bytes, start)) return last.literal;
  const hash = sampledHash(reader.bytes, start, end);
  const known = literals.remembered[hash & (SLOTS - 1)];
  if (isKnown(known, isHuffman, length, reader.bytes, start)) {
    literals.last = known;
    return known.literal;
  }
  const literal = decode(literals, reader, isHuffman, start, end);
  remember(literals, hash, reader, start, end, isHuffman, literal);
  return literal;
}

function isKnown(
  known: Remembered | undefined,
  isHuffman: boolean,
  length: number,
  bytes: Uint8Array,
  start: number,
): known is Remembered {
  return (
    known?.key.length === length && known.huffman === isHuffman && isKey(known.key, bytes, start)
  );
}

/** Set by `skimLiteral` when the string may not stand as a field's value; the other bits are its length. */
export const BAD_VALUE = 0x20000000;
export const LITERAL_LENGTH = BAD_VALUE - 1;

/** How many octets a string literal has. With a fault of the reader the result has no meaning. */
export function skimLiteral(literals: LiteralReader, reader: BlockReader): number {
  const isHuffman = nextIsHuffman(reader);
  const coded = readLength(reader);
  const length = isHuffman ? skimHuffman(reader.bytes, reader.at - coded, reader.at) : NOT_SKIMMED;
  return length === NOT_SKIMMED ? unpack(literals, reader, isHuffman, coded) : length;
}

/** The same, with the octets in `scratch`. */
export function unpackLiteral(literals: LiteralReader, reader: BlockReader): number {
  const isHuffman = nextIsHuffman(reader);
  return unpack(literals, reader, isHuffman, readLength(reader));
}

function unpack(
  literals: LiteralReader,
  reader: BlockReader,
  isHuffman: boolean,
  coded: number,
): number {
  if (coded === 0) return 0;
  const scratch = scratchFor(literals, coded);
  const start = reader.at - coded;
  const known = isHuffman ? unpackHuffman(reader.bytes, start, reader.at, scratch) : NOT_SKIMMED;
  if (known !== NOT_SKIMMED) return known;
  const length = toScratch(reader, isHuffman, start, reader.at, scratch);
  if (length === NOT_HUFFMAN) return refuse(reader, 'a string is not a valid Huffman code');
  const octets = length & HUFFMAN_LENGTH;
  return isValue(scratch, length) ? octets : octets | BAD_VALUE;
}

function nextIsHuffman({ bytes, at, end }: BlockReader): boolean {
  return at < end && (octetAt(bytes, at) & 0x80) !== 0;
}

/** The length of a string, which then ends where the reader is. */
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
    literals.remembered[slot] = { key: createOctetKey(reader.bytes, start, end), huffman, literal };
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
  const scratch = scratchFor(literals, end - start);
  const length = toScratch(reader, huffman, start, end, scratch);
  if (length === NOT_HUFFMAN) {
    refuse(reader, 'a string is not a valid Huffman code');
    return NOTHING;
  }
  const text = latin1Text(scratch, 0, length & HUFFMAN_LENGTH);
  return { text, valueOk: isValue(scratch, length), asName: undefined, asValue: undefined };
}

/** Room for a string of so many octets, Huffman coded or not. */
function scratchFor(literals: LiteralReader, coded: number): Uint8Array {
  const room = coded * 2;
  if (room > literals.scratch.length) literals.scratch = new Uint8Array(room);
  return literals.scratch;
}

/** Decodes a string; its length, with another bit set when it may hold control characters, or NOT_HUFFMAN. */
function toScratch(
  { bytes }: BlockReader,
  huffman: boolean,
  start: number,
  end: number,
  scratch: Uint8Array,
): number {
  if (huffman) return decodeHuffman(bytes, start, end, scratch);
  putOctets(scratch, 0, bytes.subarray(start, end));
  return (end - start) | HAS_LONG_CODES;
}

/** Whether what `toScratch` decoded may stand as a field's value. */
function isValue(scratch: Uint8Array, length: number): boolean {
  const octets = length & HUFFMAN_LENGTH;
  return length === octets ? hasNoBlankEnds(scratch, octets) : isFieldValue(scratch, octets);
}
