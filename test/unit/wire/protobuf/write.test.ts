import fc from 'fast-check';
import { roomForBytes, writeBytes, writeVarint } from '../../../../src/wire/protobuf/write';

/** The bytes of a varint, and what they say. */
function written(value: number) {
  const bytes = new Uint8Array(16);
  const end = writeVarint(bytes, 1, value);
  const octets = [...bytes.subarray(1, end)];
  return {
    octets,
    read: octets.reduce((sum, octet, at) => sum + (octet & 0x7f) * 2 ** (7 * at), 0),
  };
}

describe('a varint', () => {
  it('says every whole number of up to 53 bits', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), (value) => {
        expect(written(value).read).toBe(value);
      }),
    );
  });

  it.each([NaN, Infinity, -Infinity, -1, -0, 1.5, 2 ** 53, 2 ** 63, Number.MAX_VALUE])(
    'of %d ends within 8 bytes, of which only the last says so',
    (value) => {
      const { octets } = written(value);
      expect(octets.length).toBeLessThanOrEqual(8);
      expect(octets.map((octet) => octet >= 0x80)).toEqual(
        octets.map((_, at) => at < octets.length - 1),
      );
    },
  );
});

describe('a length-delimited field', () => {
  it.each([0, 1, 127, 128, 70_000])(
    'of %d bytes is its tag, its length and its content',
    (size) => {
      const content = Buffer.alloc(size, 'x');
      const bytes = Buffer.alloc(1 + roomForBytes(content));
      const end = writeBytes(bytes, 1, 0x12, content);
      const { octets: length } = written(size);
      expect([...bytes.subarray(1, end)]).toEqual([0x12, ...length, ...content]);
    },
  );
});
