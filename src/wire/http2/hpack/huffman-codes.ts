/**
 * The Huffman code of RFC 7541, Appendix B. It is canonical, so that the lengths say it all: codes of one length
 * are consecutive numbers in the order of their symbols.
 */

/** `[length in bits, the symbols that have it]`; a pair is a range, both ends included. 256 is EOS. */
const SYMBOLS_BY_LENGTH: readonly (readonly [
  number,
  readonly (number | readonly [number, number])[],
])[] = [
  [5, [[48, 50], 97, 99, 101, 105, 111, [115, 116]]],
  [6, [32, 37, [45, 47], [51, 57], 61, 65, 95, 98, 100, [102, 104], [108, 110], 112, 114, 117]],
  [7, [58, [66, 87], 89, [106, 107], 113, [118, 122]]],
  [8, [38, 42, 44, 59, 88, 90]],
  [10, [[33, 34], [40, 41], 63]],
  [11, [39, 43, 124]],
  [12, [35, 62]],
  [13, [0, 36, 64, 91, 93, 126]],
  [14, [94, 125]],
  [15, [60, 96, 123]],
  [19, [92, 195, 208]],
  [20, [128, [130, 131], 162, 184, 194, 224, 226]],
  [21, [153, 161, 167, 172, [176, 177], 179, 209, [216, 217], 227, [229, 230]]],
  [
    22,
    [
      129,
      [132, 134],
      136,
      146,
      154,
      156,
      160,
      [163, 164],
      [169, 170],
      173,
      178,
      181,
      [185, 187],
      [189, 190],
      196,
      198,
      228,
      [232, 233],
    ],
  ],
  [
    23,
    [
      1,
      135,
      [137, 141],
      143,
      147,
      [149, 152],
      155,
      [157, 158],
      [165, 166],
      168,
      [174, 175],
      180,
      [182, 183],
      188,
      191,
      197,
      231,
      239,
    ],
  ],
  [24, [9, 142, [144, 145], 148, 159, 171, 206, 215, 225, [236, 237]]],
  [25, [199, 207, [234, 235]]],
  [26, [[192, 193], [200, 202], 205, 210, 213, [218, 219], 238, 240, [242, 243], 255]],
  [27, [[203, 204], [211, 212], 214, [221, 223], 241, [244, 248], [250, 254]]],
  [28, [[2, 8], [11, 12], [14, 21], [23, 31], 127, 220, 249]],
  [30, [10, 13, 22, 256]],
];

export const EOS = 256;
export const MAX_CODE_BITS = 30;

export interface HuffmanCode {
  readonly symbol: number;
  readonly code: number;
  readonly bits: number;
}

/** All 257 codes, shortest first, in canonical order. */
export const HUFFMAN_CODES: readonly HuffmanCode[] = listCodes();

function listCodes(): HuffmanCode[] {
  const codes: HuffmanCode[] = [];
  let next = 0;
  let bitsBefore = 0;
  for (const [bits, ranges] of SYMBOLS_BY_LENGTH) {
    next *= 2 ** (bits - bitsBefore);
    bitsBefore = bits;
    for (const symbol of ranges.flatMap(toSymbols)) codes.push({ symbol, code: next++, bits });
  }
  return codes;
}

function toSymbols(range: number | readonly [number, number]): number[] {
  if (typeof range === 'number') return [range];
  const [first, last] = range;
  return Array.from({ length: last - first + 1 }, (_, i) => first + i);
}
