import { byteAt } from '../../bytes';
import { EOS, HUFFMAN_CODES, MAX_CODE_BITS } from './huffman-codes';

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
export function longCodeAt(bytes: Uint8Array, from: number): number {
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
