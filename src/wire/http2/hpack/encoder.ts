import { STATIC_TABLE } from './static-table';
import { EOS, HUFFMAN_CODES } from './huffman-codes';

const CODE = new Int32Array(EOS + 1);
const BITS = new Uint8Array(EOS + 1);

for (const { symbol, code, bits } of HUFFMAN_CODES) {
  CODE[symbol] = code;
  BITS[symbol] = bits;
}

export function huffmanLength(bytes: Uint8Array): number {
  let bits = 0;
  for (const byte of bytes) bits += BITS[byte] ?? 0;
  return (bits + 7) >> 3;
}

/** Huffman codes `bytes`, padding the last byte with ones (RFC 7541 §5.2). */
export function encodeHuffman(bytes: Uint8Array): number[] {
  const coded: number[] = [];
  let byte = 0;
  let room = 8;
  for (const symbol of bytes) {
    for (let bit = (BITS[symbol] ?? 0) - 1; bit >= 0; bit--) {
      byte = (byte << 1) | (((CODE[symbol] ?? 0) >>> bit) & 1);
      if (--room === 0) {
        coded.push(byte);
        byte = 0;
        room = 8;
      }
    }
  }
  if (room < 8) coded.push((byte << room) | ((1 << room) - 1));
  return coded;
}

/**
 * Encodes a header list so that it needs no dynamic table: such a block is encoded once and sent on every
 * connection, whatever the peer's HEADER_TABLE_SIZE. Names are lower case; characters are bytes (latin1).
 */
export function encodeStatelessBlock(
  fields: readonly (readonly [name: string, value: string])[],
): Uint8Array {
  const block: number[] = [];
  for (const [name, value] of fields) encodeField(block, name, value);
  return Uint8Array.from(block);
}

function encodeField(block: number[], name: string, value: string): void {
  const whole = STATIC_TABLE.findIndex((field) => field.name === name && field.value === value);
  if (whole >= 0) {
    pushInteger(block, 0x80, 7, whole + 1);
    return;
  }
  const named = STATIC_TABLE.findIndex((field) => field.name === name);
  pushInteger(block, 0, 4, named + 1);
  if (named < 0) pushString(block, name);
  pushString(block, value);
}

/** RFC 7541 §5.2, Huffman coded where that is shorter. */
function pushString(block: number[], text: string): void {
  const bytes = Buffer.from(text, 'latin1');
  const coded = huffmanLength(bytes);
  if (coded < bytes.length) {
    pushInteger(block, 0x80, 7, coded);
    block.push(...encodeHuffman(bytes));
  } else {
    pushInteger(block, 0, 7, bytes.length);
    block.push(...bytes);
  }
}

/** RFC 7541 §5.1. */
function pushInteger(block: number[], pattern: number, prefixBits: number, value: number): void {
  const largestInPrefix = (1 << prefixBits) - 1;
  if (value < largestInPrefix) {
    block.push(pattern | value);
    return;
  }
  block.push(pattern | largestInPrefix);
  let rest = value - largestInPrefix;
  for (; rest >= 0x80; rest >>>= 7) block.push((rest & 0x7f) | 0x80);
  block.push(rest);
}
