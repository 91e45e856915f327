import { encodeStatelessBlock } from '../../../../../src/wire/http2/hpack/encoder';
import {
  createHpackDecoder,
  decodeBlock,
  limitTable,
  type HpackDecoder,
} from '../../../../../src/wire/http2/hpack/decoder';
import { createHeaderReader } from '../../../../../src/wire/http2/hpack/header-reader';
import { field, plain } from '../../../../support/h2-frames';

const create = (maxListBytes = 16_384) => createHpackDecoder(maxListBytes, true);

function decode(decoder: HpackDecoder, block: Uint8Array | string) {
  const bytes = typeof block === 'string' ? Buffer.from(block, 'hex') : block;
  const list = decodeBlock(decoder, bytes, 0, bytes.length);
  return list?.names.map((name, i) => `${name}: ${list.values[i] ?? ''}`);
}

const REQUEST = [':method: GET', ':scheme: http', ':path: /', ':authority: www.example.com'];

describe('decoding header blocks', () => {
  it.each([
    [
      'C.3 (plain)',
      '828684410f7777772e6578616d706c652e636f6d',
      '828684be58086e6f2d6361636865',
      '828785bf400a637573746f6d2d6b65790c637573746f6d2d76616c7565',
    ],
    [
      'C.4 (huffman)',
      '828684418cf1e3c2e5f23a6ba0ab90f4ff',
      '828684be5886a8eb10649cbf',
      '828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf',
    ],
  ])('reads the three requests of RFC 7541 %s', (_name, first, second, third) => {
    const decoder = create();
    expect(decode(decoder, first)).toEqual(REQUEST);
    expect(decode(decoder, second)).toEqual([...REQUEST, 'cache-control: no-cache']);
    expect(decode(decoder, third)).toEqual([
      ':method: GET',
      ':scheme: https',
      ':path: /index.html',
      ':authority: www.example.com',
      'custom-key: custom-value',
    ]);
    expect(decoder.table.bytes).toBe(164);
  });

  it('evicts as in RFC 7541 C.6, with a table of 256 octets', () => {
    const decoder = create();
    const date = 'Mon, 21 Oct 2013 20:13:2';
    const tail = ['location: https://www.example.com'];
    expect(
      decode(
        decoder,
        '3fe101488264025885aec3771a4b6196d07abe941054d444a8200595040b8166e082a62d1bff6e919d29ad171863c78f0b97c8e9ae82ae43d3',
      ),
    ).toEqual([':status: 302', 'cache-control: private', `date: ${date}1 GMT`, ...tail]);
    expect(decode(decoder, '4883640effc1c0bf')).toEqual([
      ':status: 307',
      'cache-control: private',
      `date: ${date}1 GMT`,
      ...tail,
    ]);
    expect(
      decode(
        decoder,
        '88c16196d07abe941054d444a8200595040b8166e084a62d1bffc05a839bd9ab77ad94e7821dd7f2e6c7b335dfdfcd5b3960d5af27087f3672c1ab270fb5291f9587316065c003ed4ee5b1063d5007',
      ),
    ).toEqual([
      ':status: 200',
      'cache-control: private',
      `date: ${date}2 GMT`,
      ...tail,
      'content-encoding: gzip',
      'set-cookie: foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1',
    ]);
    expect(decoder.table.bytes).toBe(215);
    expect(decoder.table.count).toBe(3);
  });

  it.each([
    ['never indexed', 0x10],
    ['without indexing', 0x00],
  ])('leaves the table alone for a literal %s', (_name, pattern) => {
    const decoder = create();
    expect(decode(decoder, field('password', 'secret', pattern))).toEqual(['password: secret']);
    expect(decode(decoder, Buffer.concat([Buffer.from([pattern | 4]), plain('/x')]))).toEqual([
      ':path: /x',
    ]);
    expect(decoder.table.count).toBe(0);
  });

  it('empties the table for a field that is larger than it, without an error', () => {
    const decoder = create();
    decode(decoder, field('a', 'b', 0x40));
    const large = Buffer.concat([
      Buffer.from([0x40]),
      plain('c'),
      Buffer.from([0x7f, 0xa1, 0x1f]),
      Buffer.alloc(4128, 'd'),
    ]);
    expect(decode(decoder, large)).toEqual([`c: ${'d'.repeat(4128)}`]);
    expect(decoder.table.count).toBe(0);
    expect(decode(decoder, 'be')).toBeUndefined();
  });

  it('keeps the order of a table that holds many fields', () => {
    const decoder = create();
    for (let i = 0; i < 130; i++) decode(decoder, field('n', String(i % 10), 0x40));
    expect(decoder.table.count).toBe(120); // 4096 octets, 34 each
    expect(decode(decoder, 'be')).toEqual(['n: 9']);
    expect(decode(decoder, 'ff36')).toEqual(['n: 0']); // 120 fields ago: the oldest
    expect(decode(decoder, 'ff37')).toBeUndefined();
  });

  it.each([
    ['index 0', '80', 'an index is not in the table'],
    ['an index behind the table', 'be', 'an index is not in the table'],
    ['a name index behind the table', '7e0161', 'an index is not in the table'],
    ['a name index behind the table, not indexed', '0f7f0161', 'an index is not in the table'],
    ['an integer that is cut off', 'ff80', 'an integer ends outside its header block'],
    ['an integer of too many octets', 'ff8080808000', 'an integer is too long'],
    ['an integer that is too large', 'ffffffff7f', 'an integer is too large'],
    ['a literal without a name', '40', 'a string is missing'],
    ['a literal without a value', '400161', 'a string is missing'],
    ['a string that is cut off', '40016105', 'a string ends outside its header block'],
    ['a name that is no huffman code', '4081ff0161', 'a string is not a valid Huffman code'],
    ['a value that is no huffman code', '40016181ff', 'a string is not a valid Huffman code'],
    ['a size update behind a field', '8220', 'a table size update follows a field'],
    ['a size update above the limit', '3fe21f', 'a table size update is above the limit'],
    ['a size update that is cut off', '3f', 'an integer ends outside its header block'],
  ])('refuses %s', (_name, block, fault) => {
    const decoder = create();
    expect(decode(decoder, block)).toBeUndefined();
    expect(decoder.headers.block.fault).toBe(fault);
  });

  it('takes any number of size updates at the beginning of a block', () => {
    const decoder = create();
    decode(decoder, field('a', 'b', 0x40));
    expect(decode(decoder, '203fe11fbe')).toBeUndefined();
    expect(decode(create(), '203fe11f82')).toEqual([':method: GET']);
  });

  it('insists on a size update once our smaller limit is acknowledged', () => {
    const decoder = create();
    limitTable(decoder, 0);
    expect(decode(decoder, '82')).toBeUndefined();
    expect(decoder.headers.block.fault).toBe('a table size update is missing');
    expect(decode(decoder, '2082')).toEqual([':method: GET']);
    expect(decode(decoder, '82')).toEqual([':method: GET']);
    expect(decode(decoder, '2182')).toBeUndefined();
  });

  it('lets a larger limit be used once it is acknowledged', () => {
    const decoder = create();
    expect(decode(decoder, '3fe13f82')).toBeUndefined();
    limitTable(decoder, 8192);
    expect(decode(decoder, '3fe13f82')).toEqual([':method: GET']);
    expect(decoder.table.maxBytes).toBe(8192);
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

  it('gives no list of a remembered block whose fields a size update has evicted', () => {
    const decoder = create();
    decode(decoder, field('a', 'b', 0x40));
    expect(decode(decoder, 'be')).toEqual(['a: b']);
    expect(decode(decoder, '203fe11f')).toEqual([]);
    expect(decode(decoder, 'be')).toBeUndefined();
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

it('does not take a plain string for the coded one of the same octets', () => {
  const decoder = create();
  for (const [value, text] of [
    ['026402', 'd\x02'],
    ['826402', '302'],
  ]) {
    for (let i = 0; i < 3; i++)
      expect(decode(decoder, `400178${value ?? ''}`)).toEqual([`x: ${text ?? ''}`]);
  }
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
