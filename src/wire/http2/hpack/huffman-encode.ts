import { EOS, HUFFMAN_CODES } from './huffman-codes';

const CODE = new Int32Array(EOS + 1);
const BITS = new Uint8Array(EOS + 1);

for (const { symbol, code, bits } of HUFFMAN_CODES) {
  CODE[symbol] = code;
  BITS[symbol] = bits;
}

/** Octets that `octets` take when Huffman coded. */
export function huffmanLength(octets: Uint8Array): number {
  let bits = 0;
  for (const octet of octets) bits += BITS[octet] ?? 0;
  return (bits + 7) >> 3;
}

/** Huffman codes `octets`, the rest of the last octet being ones (RFC 7541 §5.2). */
export function encodeHuffman(octets: Uint8Array): number[] {
  const coded: number[] = [];
  let octet = 0;
  let room = 8;
  for (const symbol of octets) {
    for (let bit = (BITS[symbol] ?? 0) - 1; bit >= 0; bit--) {
      octet = (octet << 1) | (((CODE[symbol] ?? 0) >>> bit) & 1);
      if (--room === 0) {
        coded.push(octet);
        octet = 0;
        room = 8;
      }
    }
  }
  if (room < 8) coded.push((octet << room) | ((1 << room) - 1));
  return coded;
}
