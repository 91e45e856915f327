import { byteAt } from '../../bytes';
import { HUFFMAN_CODES, EOS, MAX_CODE_BITS } from './huffman-codes';

/**
 * Codes of 13 to 30 bits. All begin with ten ones, so that bits 10 to 21 find those of up to 22 bits in a table; the
 * longer ones begin with 17 ones and are found by their bits 17 to 29. Two lookups at most, whatever the code: a string of
 * long codes must not cost more per byte than one of letters.
 */
const FIRST_BITS = 12;
const MIDDLE_END = 22;
const MIDDLE = new Uint16Array(1 << 12);
const LAST = new Uint16Array(1 << 13);

for (const { symbol, code, bits } of HUFFMAN_CODES) {
  if (bits <= FIRST_BITS || symbol === EOS) continue;
  if (bits <= MIDDLE_END) fill(MIDDLE, symbol, code, bits, MIDDLE_END);
  else fill(LAST, symbol, code, bits, MAX_CODE_BITS);
}

/** Fills in the code with all bits that may follow it. */
function fill(
  table: Uint16Array,
  symbol: number,
  code: number,
  bits: number,
  endBit: number,
): void {
  const rest = endBit - bits;
  const from = (code << rest) & (table.length - 1);
  table.fill((bits << 8) | symbol, from, from + (1 << rest));
}

/**
 * `bits << 8 | symbol` of the code that begins at bit `from`, which is longer than 12 bits; 0 for EOS. The code may go on
 * after the end of the string.
 */
function longCodeAt(bytes: Uint8Array, from: number): number {
  const at = from >> 3;
  const shift = from & 7;
  const high =
    (byteAt(bytes, at) << 24) |
    (byteAt(bytes, at + 1) << 16) |
    (byteAt(bytes, at + 2) << 8) |
    byteAt(bytes, at + 3);
  const next30 = ((high << shift) | (byteAt(bytes, at + 4) >> (8 - shift))) >>> 2;
  const found = MIDDLE[(next30 >> (MAX_CODE_BITS - MIDDLE_END)) & (MIDDLE.length - 1)] ?? 0;
  return found === 0 ? (LAST[next30 & (LAST.length - 1)] ?? 0) : found;
}

/** The result of `decodeHuffman` for an invalid Huffman code (RFC 7541 §5.2). */
export const NOT_HUFFMAN = -1;
/** The bits of its result that are the decoded length. */
export const HUFFMAN_LENGTH = 0x0fffffff;
/** Set in the result if a code was longer than PEEK_BITS, as those of all control characters are. */
export const HAS_LONG_CODES = 0x10000000;

/**
 * By the next PEEK_BITS bits: two whole symbols, or one, or none because its code is longer. `bits of the first << 24 | second <<
 * 16 | first << 8 | bits of both << 2 | count`. Nearly all header text has codes of 5 to 8 bits.
 */
const PEEK_BITS = 12;
const PAIRS = new Uint32Array(1 << PEEK_BITS);

HUFFMAN_CODES.forEach(({ symbol, code, bits }) => {
  if (bits <= PEEK_BITS) fillPairs(symbol, code, bits);
});

/** Fills in all bits that may follow this code within PEEK_BITS. */
function fillPairs(symbol: number, code: number, bits: number): void {
  const rest = PEEK_BITS - bits;
  const single = (bits << 24) | (symbol << 8);
  PAIRS.fill(single | (bits << 2) | 1, code << rest, (code + 1) << rest);
  for (const next of HUFFMAN_CODES) {
    if (next.bits > rest) break;
    const both = bits + next.bits;
    const from = ((code << next.bits) | next.code) << (PEEK_BITS - both);
    const entry = single | (next.symbol << 16) | (both << 2) | 2;
    PAIRS.fill(entry, from, from + (1 << (PEEK_BITS - both)));
  }
}

/**
 * Decodes `bytes[start, end)` into `out` from 0 on, and returns the length (HUFFMAN_LENGTH) with HAS_LONG_CODES, or
 * NOT_HUFFMAN. `out` must have room for 8/5 of the input and two more bytes.
 */
export function decodeHuffman(
  bytes: Uint8Array,
  start: number,
  end: number,
  out: Uint8Array,
): number {
  let length = 0;
  let longCodes = 0;
  let at = start;
  let window = 0; // its lowest `bits` bits are still to be decoded
  let bits = 0;
  for (;;) {
    if (bits < PEEK_BITS) {
      if (at + 2 > end) break;
      window = (window << 16) | (byteAt(bytes, at) << 8) | byteAt(bytes, at + 1);
      bits += 16;
      at += 2;
    }
    const found = pairAt(window >>> (bits - PEEK_BITS));
    if (found !== 0) {
      out[length] = found >> 8;
      out[length + 1] = found >> 16;
      length += found & 3;
      bits -= (found >> 2) & 15;
      continue;
    }
    const from = at * 8 - bits;
    const long = longCodeAt(bytes, from);
    const next = from + (long >> 8);
    if (long === 0 || next > end * 8) break;
    out[length++] = long;
    longCodes = HAS_LONG_CODES;
    at = (next + 7) >> 3;
    bits = at * 8 - next;
    window = byteAt(bytes, at - 1);
  }
  const rest = decodeRest(bytes, at * 8 - bits, end * 8, out, length);
  return rest === NOT_HUFFMAN ? NOT_HUFFMAN : rest | longCodes;
}

function pairAt(window: number): number {
  return PAIRS[window & ((1 << PEEK_BITS) - 1)] ?? 0;
}

/** Decodes the last symbols, some 30 bits. */
function decodeRest(
  bytes: Uint8Array,
  fromBit: number,
  endBit: number,
  out: Uint8Array,
  decoded: number,
): number {
  let length = decoded;
  let at = fromBit;
  let longCodes = 0;
  while (!isPadding(bytes, at, endBit)) {
    const found = readCode(bytes, at);
    at += found >> 8;
    if (found === 0 || at > endBit) return NOT_HUFFMAN;
    out[length++] = found;
    if (found >> 8 > PEEK_BITS) longCodes = HAS_LONG_CODES;
  }
  return length | longCodes;
}

/** Whether fewer than eight bits are left, all ones. EOS is an error, and so is more padding (RFC 7541 §5.2). */
function isPadding(bytes: Uint8Array, from: number, endBit: number): boolean {
  const bits = endBit - from;
  const ones = (1 << bits) - 1;
  return bits < 8 && (byteAt(bytes, from >> 3) & ones) === ones;
}

/** `bits << 8 | symbol` of the code that begins at bit `from`, 0 for EOS; it may end outside of the string. */
function readCode(bytes: Uint8Array, from: number): number {
  const at = from >> 3;
  const window = (byteAt(bytes, at) << 16) | (byteAt(bytes, at + 1) << 8) | byteAt(bytes, at + 2);
  const found = pairAt(window >> (24 - PEEK_BITS - (from & 7)));
  const bits = found >> 24;
  return bits === 0 ? longCodeAt(bytes, from) : (bits << 8) | ((found >> 8) & 0xff);
}
