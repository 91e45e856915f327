import * as fc from 'fast-check';
import { parseInteger } from '../../../../../src/transport/http/json/scalars';

describe('a whole number in text', () => {
  it.each<[string, number | bigint | undefined]>([
    ['0', 0],
    ['-0', 0],
    ['0.000', 0],
    ['0e999999', 0],
    ['12.00', 12],
    ['1200e-2', 12],
    ['0.012e3', 12],
    ['-3', -3],
    ['9007199254740993', 9_007_199_254_740_993n],
    ['12.5', undefined],
    ['125e-1', undefined],
    ['1e-999999', undefined],
    ['1e41', undefined],
    ['1e9999999', undefined],
    ['', undefined],
    ['1e', undefined],
    ['0x10', undefined],
    ['1_000', undefined],
  ])('reads %j as %p', (text, value) => {
    expect(parseInteger(text)).toBe(value);
  });

  it('is the same however it is written', () => {
    const integer = fc
      .bigInt({ min: -(2n ** 64n), max: 2n ** 64n })
      .filter((value) => value !== 0n);
    fc.assert(
      fc.property(integer, fc.nat({ max: 12 }), (value, shift) => {
        const expected = Number.isSafeInteger(Number(value)) ? Number(value) : value;
        expect(parseInteger(String(value))).toBe(expected);
        expect(parseInteger(`${String(value)}${'0'.repeat(shift)}e-${String(shift)}`)).toBe(
          expected,
        );
        expect(parseInteger(`${String(value)}.${'0'.repeat(shift + 1)}`)).toBe(expected);
      }),
    );
  });
});
