import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { encodeStatelessBlock } from '../../../../../src/wire/http2/hpack/encoder';
import {
  createHpackDecoder,
  decodeBlock,
  limitTable,
  type HpackDecoder,
} from '../../../../../src/wire/http2/hpack/decoder';
import { createHeaderReader } from '../../../../../src/wire/http2/hpack/header-reader';
import { field, plain } from '../../../../support/h2-frames';
import { repeated } from '../../../../support/repeated';
import { blocksOf } from '../../../../support/scenario/read-scenarios';

const create = (maxListBytes = 16_384) => createHpackDecoder(maxListBytes, true);

function decode(decoder: HpackDecoder, block: Uint8Array | string) {
  const bytes = typeof block === 'string' ? Buffer.from(block, 'hex') : block;
  const list = decodeBlock(decoder, bytes, 0, bytes.length);
  return list?.names.map((name, i) => `${name}: ${list.values[i] ?? ''}`);
}

/** A line of blocks.txt with what came in place of what it expects. */
function play(decoder: HpackDecoder, line: string): string {
  const [word = '', limit] = line.split(' ');
  const [block = '', expected = ''] = line.split(' -> ');
  if (word === 'table')
    return `table ${String(decoder.table.bytes)} ${String(decoder.table.count)}`;
  if (word === 'limit') {
    limitTable(decoder, Number(limit));
    return line;
  }
  const fields = decode(decoder, repeated(block))?.join('; ') ?? decoder.headers.block.fault;
  const told = fields === '' ? 'nothing' : String(fields).replace('\x02', '\\x02');
  return `${block} -> ${told === repeated(expected) ? expected : told}`;
}

it.each(blocksOf(readFileSync(join(__dirname, 'blocks.txt'), 'utf8')))('%s', (_, lines) => {
  const decoder = create();
  const wanted = lines.map((line) => line.trim());
  expect(wanted.map((line) => play(decoder, line))).toEqual(wanted);
});

describe('decoding header blocks', () => {
  it('keeps the order of a table that holds many fields', () => {
    const decoder = create();
    for (let i = 0; i < 130; i++) decode(decoder, field('n', String(i % 10), 0x40));
    expect(decoder.table.count).toBe(120); // 4096 octets, 34 each
    expect(decode(decoder, 'be')).toEqual(['n: 9']);
    expect(decode(decoder, 'ff36')).toEqual(['n: 0']); // 120 fields ago: the oldest
    expect(decode(decoder, 'ff37')).toBeUndefined();
  });

  it('counts a list beyond the limit, but does not keep it', () => {
    const decoder = create(100);
    const bytes = Buffer.concat([field('a', 'b', 0x40), Buffer.alloc(1000, 0xbe)]);
    const list = decodeBlock(decoder, bytes, 0, bytes.length);
    expect(list?.listBytes).toBe(1001 * 34);
    expect(list?.names).toEqual(['a', 'a']);
  });

  it('gives the very same list for a repeated block', () => {
    const decoder = create();
    decode(decoder, field('a', 'b', 0x40));
    const block = Buffer.from('8284be', 'hex');
    const once = decodeBlock(decoder, block, 0, 3);
    expect(decodeBlock(decoder, Buffer.from(block), 0, 3)).toBe(once);
    decode(decoder, field('a', 'c', 0x40));
    expect(decodeBlock(decoder, block, 0, 3)).not.toBe(once);
    expect(decode(decoder, block)?.at(-1)).toBe('a: c');
  });

  it('gives the list before for a block that differs only in fields that nobody reads', () => {
    const decoder = createHpackDecoder(16_384, true, createHeaderReader(new Set(['read'])));
    const listOf = (...fields: readonly Buffer[]) => {
      const bytes = Buffer.concat([Buffer.of(0x82), ...fields]);
      return decodeBlock(decoder, bytes, 0, bytes.length);
    };
    const first = listOf(field('read', 'a', 0x40), field('id', '1', 0x40));
    expect(first?.names).toEqual([':method', 'read']);
    expect(listOf(Buffer.of(0xbf), field('id', '2', 0x40))).toBe(first);
    // What comes as a literal again and again is remembered from its second time on.
    const literals = ['1', '2', '3', '4'].map((id) => listOf(field('read', 'a'), field('id', id)));
    expect(literals[3]).toBe(literals[2]);
    const others = [
      listOf(field('read', 'b'), field('id', '3')),
      listOf(field('read', 'a'), field('id', '10')),
      listOf(field('read', 'a'), field('id', ' ')),
      listOf(field('read', 'a')),
    ];
    expect(new Set([first, ...others]).size).toBe(5);
    expect(others.map((list) => list?.values.at(1))).toEqual(['b', 'a', 'a', 'a']);
    expect(others[2]?.fault).toMatch(/forbidden byte/);
    expect(others.map((list) => list?.fault !== undefined)).toEqual([false, false, true, false]);
  });

  it('remembers neither long blocks nor long lists', () => {
    const decoder = create();
    for (const block of [Buffer.alloc(600, 0x82), Buffer.alloc(200, 0x82)]) {
      const once = decodeBlock(decoder, block, 0, block.length);
      expect(decodeBlock(decoder, block, 0, block.length)).not.toBe(once);
    }
  });

  it('keeps a remembered block until another one comes twice to its place', () => {
    const decoder = create();
    const blocks = Array.from({ length: 400 }, (_, i) => field('n', String(i)));
    const lists = () => blocks.map((block) => decodeBlock(decoder, block, 0, block.length));
    const first = lists();
    const second = lists();
    const third = lists();
    expect(second.filter((list, i) => list === first[i]).length).toBeGreaterThan(0);
    expect(second.filter((list, i) => list === first[i]).length).toBeLessThanOrEqual(16);
    expect(third).toEqual(first);
  });

  it('remembers a string that comes a second time, plain or coded, and not one that is long', () => {
    const decoder = create();
    const text = 'same';
    for (let i = 0; i < 5; i++) {
      expect(decode(decoder, field('x', text, 0x40))).toEqual(['x: same']);
      expect(
        decode(decoder, Buffer.concat([Buffer.from([0x40]), plain('x'), encodedValue(text)])),
      ).toEqual(['x: same']);
      expect(decode(decoder, field('y', 'z'.repeat(126), 0x40))).toEqual([`y: ${'z'.repeat(126)}`]);
    }
  });
});

describe('a stand-in for values', () => {
  const placeholder = {
    name: 'x-id',
    placeholderFor: (octets: Uint8Array, length: number) =>
      length > 1 && octets[0] === 0x61 ? 'any a' : undefined,
  };
  const state = () => createHpackDecoder(16_384, true, createHeaderReader(undefined, placeholder));

  it('is kept instead of the value, in the table too, where both count as what came', () => {
    const [decoder, plainly] = [state(), create()];
    for (const value of ['abc', 'another', 'b', 'a', '']) {
      const kept = value.length > 1 ? 'any a' : value;
      expect(decode(decoder, field('x-id', value, 0x40))).toEqual([`x-id: ${kept}`]);
      decode(plainly, field('x-id', value, 0x40));
      // The newest field of the table.
      expect(decode(decoder, 'be')).toEqual([`x-id: ${kept}`]);
      expect(decoder.table.bytes).toBe(plainly.table.bytes);
    }
    const coded = Buffer.concat([Buffer.from([0x7e]), encodedValue('another one, huffman coded')]);
    expect(decode(decoder, coded)).toEqual(['x-id: any a']);
  });

  it('changes nothing for other names, and hides no bad value', () => {
    const decoder = state();
    expect(decode(decoder, field('y', 'abc'))).toEqual(['y: abc']);
    const bytes = field('x-id', 'a\0b');
    expect(decodeBlock(decoder, bytes, 0, bytes.length)?.fault).toBeDefined();
    const trailing = Buffer.concat([field('x-id', 'abc'), plain('')]);
    expect(decodeBlock(decoder, trailing, 0, trailing.length - 2)).toBeUndefined();
  });
});

/** The value as our own encoder puts it, Huffman coded. */
function encodedValue(text: string): Uint8Array {
  return encodeStatelessBlock([['x', text]]).subarray(1 + 2);
}

describe('encodeStatelessBlock', () => {
  const fields: [string, string][] = [
    [':status', '200'],
    ['content-type', 'application/grpc'],
    ['grpc-status', '13'],
    ['grpc-message', '%E2%82%AC \xff'],
    ['x-long', 'k'.repeat(400)],
    ['x-control', '\x01\x02\x03'],
    ['empty', ''],
  ];

  it('is understood with any table, and changes none', () => {
    const decoder = create();
    decode(decoder, '20');
    expect(decode(decoder, encodeStatelessBlock(fields))).toEqual(
      fields.map(([name, value]) => `${name}: ${value}`),
    );
    expect(decoder.table.count).toBe(0);
  });

  it('uses the static table, and huffman coding where that is shorter', () => {
    expect(Buffer.from(encodeStatelessBlock([[':status', '200']])).toString('hex')).toBe('88');
    expect(Buffer.from(encodeStatelessBlock([['x', 'www.example.com']])).toString('hex')).toBe(
      '0001788cf1e3c2e5f23a6ba0ab90f4ff',
    );
  });
});
