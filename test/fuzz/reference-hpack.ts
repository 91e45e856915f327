import { HUFFMAN_CODES, EOS } from '../../src/wire/http2/hpack/huffman-codes';
import { STATIC_TABLE } from '../../src/wire/http2/hpack/static-table';

type Field = readonly [name: string, value: string];

/** HPACK (RFC 7541) as it is written, with no thought of speed: the judge of our decoder. */
export interface ReferenceHpack {
  /** Newest first. */
  readonly table: Field[];
  /** The fields of a block, or undefined for a COMPRESSION_ERROR. */
  decode(block: Uint8Array): Field[] | undefined;
}

class CompressionError extends Error {}

const sizeOf = ([name, value]: Field) => name.length + value.length + 32;
/** Above this an integer has no use in a header block; the RFC leaves the limit to us. */
const MAX_INTEGER = 0x0fffffff;
const MAX_BYTES = 4;

const SYMBOLS = new Map(
  HUFFMAN_CODES.map(({ symbol, code, bits }) => [code.toString(2).padStart(bits, '0'), symbol]),
);

export function createReferenceHpack(limit: number): ReferenceHpack {
  const table: Field[] = [];
  let maxBytes = limit;
  let block = new Uint8Array(0);
  let at = 0;

  const octet = () => {
    const next = block[at++];
    if (next === undefined) throw new CompressionError();
    return next;
  };
  const integer = (prefixBits: number) => {
    const full = 2 ** prefixBits - 1;
    let value = octet() & full;
    if (value < full) return value;
    for (let index = 0; index < MAX_BYTES; index++) {
      const more = octet();
      value += (more & 0x7f) * 128 ** index;
      if (more >= 0x80) continue;
      if (value > MAX_INTEGER) break;
      return value;
    }
    throw new CompressionError();
  };
  const text = () => {
    const isHuffman = ((block[at] ?? 0) & 0x80) !== 0;
    const length = integer(7);
    const octets = block.subarray(at, at + length);
    if (octets.length < length) throw new CompressionError();
    at += length;
    return isHuffman ? huffman(octets) : Buffer.from(octets).toString('latin1');
  };
  const evict = () => {
    while (table.reduce((sum, field) => sum + sizeOf(field), 0) > maxBytes) table.pop();
  };
  const fieldAt = (index: number): Field => {
    const field = STATIC_TABLE[index - 1] ?? table[index - STATIC_TABLE.length - 1];
    if (index === 0 || field === undefined) throw new CompressionError();
    return 'kind' in field ? [field.name, field.value] : field;
  };
  const literal = (prefixBits: number): Field => {
    const index = integer(prefixBits);
    const name = index === 0 ? text() : fieldAt(index)[0];
    return [name, text()];
  };
  const sizeUpdate = (isFirst: boolean) => {
    const bytes = integer(5);
    if (!isFirst || bytes > limit) throw new CompressionError();
    maxBytes = bytes;
    evict();
  };
  const all = () => {
    const fields: Field[] = [];
    while (at < block.length) {
      const first = block[at] ?? 0;
      if (first >= 0x80) fields.push(fieldAt(integer(7)));
      else if (first >= 0x40) {
        const field = literal(6);
        fields.push(field);
        table.unshift(field);
        evict();
      } else if (first >= 0x20) sizeUpdate(fields.length === 0);
      else fields.push(literal(4));
    }
    return fields;
  };
  return {
    table,
    decode(octets) {
      block = new Uint8Array(octets);
      at = 0;
      try {
        return all();
      } catch (error) {
        if (error instanceof CompressionError) return undefined;
        throw error;
      }
    },
  };
}

/** RFC 7541 §5.2: the padding is the beginning of EOS, shorter than an octet; EOS itself is an error. */
function huffman(octets: Uint8Array): string {
  const symbols: number[] = [];
  let code = '';
  for (const octet of octets) {
    for (let bit = 7; bit >= 0; bit--) {
      code += String((octet >> bit) & 1);
      const symbol = SYMBOLS.get(code);
      if (symbol === undefined) continue;
      if (symbol === EOS) throw new CompressionError();
      symbols.push(symbol);
      code = '';
    }
  }
  if (code.length > 7 || code.includes('0')) throw new CompressionError();
  return Buffer.from(symbols).toString('latin1');
}
