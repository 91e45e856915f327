import fc from 'fast-check';
import { HUFFMAN_CODES } from '../../../../../src/wire/http2/hpack/huffman-codes';
import {
  decodeHuffman,
  HUFFMAN_LENGTH,
  NOT_HUFFMAN,
} from '../../../../../src/wire/http2/hpack/huffman-decode';
import { encodeHuffman, huffmanLength } from '../../../../../src/wire/http2/hpack/encoder';
import { NOT_COMMON, measureHuffman } from '../../../../../src/wire/http2/hpack/huffman-states';
import { decodeCommonHuffman } from '../../../../../src/wire/http2/hpack/huffman-states';

function decode(coded: Uint8Array): string | undefined {
  const out = Buffer.alloc(coded.length * 2 + 8);
  // Octets around the string must not matter.
  const around = Buffer.concat([Buffer.from([0xff, 0]), coded, Buffer.from([0xff, 0xff, 0xff])]);
  const length = decodeHuffman(around, 2, 2 + coded.length, out);
  return length === NOT_HUFFMAN ? undefined : out.toString('latin1', 0, length & HUFFMAN_LENGTH);
}

const bits = (text: string) =>
  Buffer.from(
    [0, 8, 16, 24, 32]
      .filter((at) => at < text.length)
      .map((at) => parseInt(text.slice(at, at + 8), 2)),
  );

describe('the huffman code', () => {
  it('is complete: every sequence of bits begins with exactly one code', () => {
    expect(HUFFMAN_CODES.reduce((sum, { bits: length }) => sum + 2 ** -length, 0)).toBe(1);
    expect(new Set(HUFFMAN_CODES.map(({ symbol }) => symbol)).size).toBe(257);
    expect(HUFFMAN_CODES.at(-1)).toEqual({ symbol: 256, code: 0x3fffffff, bits: 30 });
  });

  it.each([
    ['f1e3c2e5f23a6ba0ab90f4ff', 'www.example.com'],
    ['a8eb10649cbf', 'no-cache'],
    ['25a849e95ba97d7f', 'custom-key'],
    ['25a849e95bb8e8b4bf', 'custom-value'],
    ['6402', '302'],
    ['d07abe941054d444a8200595040b8166e082a62d1bff', 'Mon, 21 Oct 2013 20:13:21 GMT'],
    ['9d29ad171863c78f0b97c8e9ae82ae43d3', 'https://www.example.com'],
    [
      '94e7821dd7f2e6c7b335dfdfcd5b3960d5af27087f3672c1ab270fb5291f9587316065c003ed4ee5b1063d5007',
      'foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1',
    ],
  ])('decodes and encodes %s of the RFC', (hex, text) => {
    expect(decode(Buffer.from(hex, 'hex'))).toBe(text);
    expect(Buffer.from(encodeHuffman(Buffer.from(text, 'latin1'))).toString('hex')).toBe(hex);
  });

  it('gives back what was encoded, whatever the octets', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (octets) => {
        const coded = Uint8Array.from(encodeHuffman(octets));
        expect(coded.length).toBe(huffmanLength(octets));
        expect(decode(coded)).toBe(Buffer.from(octets).toString('latin1'));
      }),
    );
  });

  it('gives back every symbol between others, wherever its code begins', () => {
    for (let symbol = 0; symbol < 256; symbol++) {
      for (const before of ['', '0', '00', 'XX', '!', '00X', '0!X', '\xff\0']) {
        const text = `${before}${String.fromCharCode(symbol).repeat(3)}a`;
        const coded = Uint8Array.from(encodeHuffman(Buffer.from(text, 'latin1')));
        expect(decode(coded)).toBe(text);
      }
    }
  });

  it('looks at a string of the longest codes about as often as at one of letters', () => {
    const looksPerByte = (text: string) => {
      const coded = Buffer.from(encodeHuffman(Buffer.from(text.repeat(400), 'latin1')));
      let looks = 0;
      const counted = new Proxy(coded, {
        get: (bytes, key) => {
          looks++;
          return bytes[key as unknown as number];
        },
      });
      decodeHuffman(counted, 0, coded.length, Buffer.alloc(coded.length * 2 + 8));
      return looks / coded.length;
    };
    const letters = looksPerByte('a traceparent');
    for (const long of [
      '\0',
      '$',
      '<',
      '\xc3',
      '\x80',
      '\x99',
      '\x8e',
      '\xff',
      '\x02',
      '\n',
      '\0a',
    ])
      expect(looksPerByte(long)).toBeLessThan(6 * letters);
  });

  it('says that there may be control characters exactly when a long code was used', () => {
    const out = Buffer.alloc(64);
    const flagged = (text: string) => {
      const coded = Uint8Array.from(encodeHuffman(Buffer.from(text, 'latin1')));
      return decodeHuffman(coded, 0, coded.length, out) > HUFFMAN_LENGTH;
    };
    expect(flagged('a traceparent!')).toBe(false);
    for (const control of ['\0', '\r', '\n', 'abcdefgh\n']) expect(flagged(control)).toBe(true);
  });

  it.each([
    [
      'a whole octet of padding',
      Buffer.concat([Buffer.from(encodeHuffman(Buffer.from('o'))), Buffer.from([0xff])]),
    ],
    ['padding that is not all ones', bits('00111000')],
    ['eight bits of padding alone', Buffer.from([0xff])],
    ['the symbol EOS', Buffer.from([0xff, 0xff, 0xff, 0xff])],
    ['a code that is cut off', bits('1111111111111111111111011111111').subarray(0, 2)],
  ])('refuses %s', (_what, coded) => {
    expect(decode(coded)).toBeUndefined();
  });

  it('accepts up to seven bits of padding, and none', () => {
    expect(decode(bits('00111111'))).toBe('o');
    expect(decode(encodedLength8())).toBe('&');
    expect(decode(Buffer.alloc(0))).toBe('');
  });
});

function encodedLength8(): Buffer {
  return Buffer.from(encodeHuffman(Buffer.from('&')));
}

describe('skimming huffman code', () => {
  const skim = (coded: Uint8Array) => {
    const around = Buffer.concat([Buffer.from([0xff, 0]), coded, Buffer.from([0xff, 0xff, 0xff])]);
    const out = Buffer.alloc(coded.length * 2 + 8);
    const length = decodeCommonHuffman(around, 2, 2 + coded.length, out);
    expect(measureHuffman(around, 2, 2 + coded.length)).toBe(length);
    if (length !== NOT_COMMON) expect(out.toString('latin1', 0, length)).toBe(decode(coded));
    return length;
  };
  const coded = (text: string) => Uint8Array.from(encodeHuffman(Buffer.from(text, 'latin1')));

  it.each([
    '',
    '0',
    '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
    'XYZ&*,;:zq',
    '%3D=_./',
  ])('counts the octets of "%s"', (text) => {
    expect(skim(coded(text))).toBe(text.length);
  });

  it.each([' a', 'a ', 'a b', 'a\tb', 'a\0', 'a\n', '"', 'caf\xe9'])(
    'leaves "%s" alone',
    (text) => {
      expect(skim(coded(text))).toBe(NOT_COMMON);
    },
  );

  it('agrees with decoding, whatever the octets', () => {
    const likely = fc.string({
      unit: fc.constantFrom(...Array.from('0123456789abcdefXZ&-=_')),
      maxLength: 60,
    });
    const octets = fc.oneof(fc.uint8Array({ maxLength: 12 }), likely.map(coded));
    fc.assert(
      fc.property(octets, fc.nat(100), fc.nat(255), (bytes, at, changed) => {
        if (at < bytes.length) bytes[at] = changed;
        const skimmed = skim(bytes);
        if (skimmed !== NOT_COMMON) expect(decode(bytes)?.length).toBe(skimmed);
        else expect(decode(bytes) ?? ' ').toMatch(/[^0-9a-zA-Z\-./%=_:&*,;]/);
      }),
      { numRuns: 2_000 },
    );
  });
});
