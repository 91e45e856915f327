import { octetAt } from '../octets';
import { EOS, HUFFMAN_CODES, LONGEST_CODE } from './huffman-codes';

/** What `decodeHuffman` returns for a string that is no Huffman code (RFC 7541 §5.2). */
export const NOT_HUFFMAN = -1;
/** The bits of its result that are the count of octets. */
export const HUFFMAN_LENGTH = 0x0fffffff;
/** Set in the result when a code was longer than PEEK_BITS: then there may be control characters, whose codes are all long. */
export const HAS_LONG_CODES = 0x10000000;

/**
 * What the next PEEK_BITS bits begin with: two symbols if both are whole, or one, or nothing because the code is
 * longer. `bits of the first << 24 | second << 16 | first << 8 | bits of both << 2 | count`. Nearly all that headers hold is in codes of 5 to 8 bits.
 */
const PEEK_BITS = 12;
const PAIRS = new Uint32Array(1 << PEEK_BITS);
/** Per length: the first code, how many there are, and where their symbols begin in `SYMBOLS`. */
const FIRST_CODE = new Int32Array(LONGEST_CODE + 1);
const COUNT = new Int32Array(LONGEST_CODE + 1);
const OFFSET = new Int32Array(LONGEST_CODE + 1);
const SYMBOLS = Uint16Array.from(HUFFMAN_CODES, ({ symbol }) => symbol);

HUFFMAN_CODES.forEach(({ symbol, code, bits }, index) => {
  if (COUNT[bits] === 0) {
    FIRST_CODE[bits] = code;
    OFFSET[bits] = index;
  }
  COUNT[bits] = (COUNT[bits] ?? 0) + 1;
  if (bits <= PEEK_BITS) fillPairs(symbol, code, bits);
});

/** All that may follow this code within PEEK_BITS. */
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
 * Decodes `bytes[start, end)` into `out` from 0 on, and returns the count of octets (in HUFFMAN_LENGTH; any
 * other bit says that there may be control characters) or NOT_HUFFMAN.
 * `out` must have room for 8/5 of the input and two more.
 */
export function decodeHuffman(
  bytes: Uint8Array,
  start: number,
  end: number,
  out: Uint8Array,
): number {
  let length = 0;
  let at = start;
  let window = 0; // its lowest `bits` bits are still to be decoded
  let bits = 0;
  for (;;) {
    if (bits < PEEK_BITS) {
      if (at + 2 > end) break;
      window = (window << 16) | (octetAt(bytes, at) << 8) | octetAt(bytes, at + 1);
      bits += 16;
      at += 2;
    }
    const found = pairAt(window >>> (bits - PEEK_BITS));
    if (found === 0) break;
    out[length] = found >> 8;
    out[length + 1] = found >> 16;
    length += found & 3;
    bits -= (found >> 2) & 15;
  }
  return decodeRest(bytes, at * 8 - bits, end * 8, out, length);
}

function pairAt(window: number): number {
  return PAIRS[window & ((1 << PEEK_BITS) - 1)] ?? 0;
}

/** The last symbols, and everything from the first code on that is longer than PEEK_BITS. */
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
    const found = readCode(bytes, at, endBit);
    if (found === NOT_HUFFMAN) return NOT_HUFFMAN;
    out[length++] = found & 0xff;
    at += found >> 8;
    if (found >> 8 > PEEK_BITS) longCodes = HAS_LONG_CODES;
  }
  return length | longCodes;
}

/** Whether all that is left is fewer than eight one bits. EOS is an error, and so is more padding (RFC 7541 §5.2). */
function isPadding(bytes: Uint8Array, from: number, endBit: number): boolean {
  const bits = endBit - from;
  const ones = (1 << bits) - 1;
  return bits < 8 && (octetAt(bytes, from >> 3) & ones) === ones;
}

/** `bits << 8 | symbol` of the code that begins at bit `from`. */
function readCode(bytes: Uint8Array, from: number, endBit: number): number {
  const at = from >> 3;
  const window =
    (octetAt(bytes, at) << 16) | (octetAt(bytes, at + 1) << 8) | octetAt(bytes, at + 2);
  const found = pairAt(window >> (24 - PEEK_BITS - (from & 7)));
  const bits = found >> 24;
  if (bits === 0 || bits > endBit - from) return readLongCode(bytes, from, endBit);
  return (bits << 8) | ((found >> 8) & 0xff);
}

/** The same bit by bit; NOT_HUFFMAN when the string ends within the code. */
function readLongCode(bytes: Uint8Array, from: number, endBit: number): number {
  const last = Math.min(LONGEST_CODE, endBit - from);
  let code = 0;
  for (let bits = 1; bits <= last; bits++) {
    const position = from + bits - 1;
    code = (code << 1) | ((octetAt(bytes, position >> 3) >> (7 - (position & 7))) & 1);
    const symbol = symbolOf(code, bits);
    if (symbol === EOS) return NOT_HUFFMAN;
    if (symbol >= 0) return (bits << 8) | symbol;
  }
  return NOT_HUFFMAN;
}

/** The symbol of this code, or -1 when no code of this length is such. */
function symbolOf(code: number, bits: number): number {
  const index = code - (FIRST_CODE[bits] ?? 0);
  const known = index >= 0 && index < (COUNT[bits] ?? 0);
  return known ? (SYMBOLS[(OFFSET[bits] ?? 0) + index] ?? EOS) : -1;
}
