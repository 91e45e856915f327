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
