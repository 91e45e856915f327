import fc from 'fast-check';
import { createByteKey, isKey } from '../../../src/wire/bytes';

/** A chunk of its own, which begins somewhere in its memory, with `octets` at `start`. */
function chunk(octets: Uint8Array, offset: number, start: number): Uint8Array {
  const bytes = new Uint8Array(offset + start + octets.length + 3).subarray(offset);
  bytes.set(octets, start);
  return bytes;
}

/** Enough of them to be compared by octets and then by words. */
const LOOKS = [1, 2, 3, 4, 5];

const octets = fc.uint8Array({ maxLength: 40 });
const place = fc.nat(9);

describe('an octet key', () => {
  it('is found in a chunk, at the first look and at each later one', () => {
    fc.assert(
      fc.property(octets, place, place, place, (bytes, offset, start, from) => {
        const key = createByteKey(chunk(bytes, offset, from), from, from + bytes.length);
        const other = chunk(bytes, offset, start);
        const looks = LOOKS.map(() => isKey(key, other, start));
        expect(looks).toEqual([true, true, true, true, true]);
      }),
    );
  });

  it('is not found where one octet differs', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 1, maxLength: 40 }),
        place,
        fc.nat(),
        fc.integer({ min: 1, max: 255 }),
        (bytes, start, at, change) => {
          const key = createByteKey(bytes, 0, bytes.length);
          const changed = chunk(bytes, 0, start);
          const wrong = start + (at % bytes.length);
          changed[wrong] = (changed[wrong] as number) ^ change;
          const looks = LOOKS.map(() => isKey(key, changed, start));
          expect(looks).toEqual([false, false, false, false, false]);
        },
      ),
    );
  });

  it('holds its own octets, whatever becomes of the chunk', () => {
    const bytes = Uint8Array.from([1, 2, 3, 4, 5, 6]);
    const key = createByteKey(bytes, 0, 6);
    const before = Uint8Array.from(bytes);
    bytes.fill(0);
    expect(LOOKS.map(() => isKey(key, before, 0))).toEqual([true, true, true, true, true]);
    expect(LOOKS.map(() => isKey(key, bytes, 0))).toEqual([false, false, false, false, false]);
  });
});
