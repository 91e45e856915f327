import fc from 'fast-check';
import { decimalNumber, wholeNumber } from '../../../../src/platform/env-table/parsers';

describe('a whole number', () => {
  const any = wholeNumber(-1e15, 1e15);

  it.each([
    ['0', 0],
    ['-0', 0],
    ['42', 42],
    ['+5', 5],
    ['-5', -5],
    ['010', 8],
    ['-010', -8],
    ['0o17', 15],
    ['0O17', 15],
    ['0x1F', 31],
    ['0x_1', 1],
    ['0b101', 5],
    ['1_000', 1000],
    ['0_7', 7],
  ])('reads %s as Go reads it: %d', (text, value) => {
    expect(any.parse(text)).toBe(value);
  });

  it.each([
    '',
    ' 1',
    '1 ',
    '1.0',
    '1e3',
    '08',
    '0_8',
    '1__0',
    '1_',
    '_1',
    '0x',
    '--1',
    'ten',
    '٣',
    '1\n',
  ])('refuses %j', (text) => {
    expect(any.parse(text)).toBeUndefined();
  });

  it('holds its range, both ends included', () => {
    const parser = wholeNumber(1, 3);
    expect(['0', '1', '3', '4'].map((text) => parser.parse(text))).toEqual([
      undefined,
      1,
      3,
      undefined,
    ]);
    expect(parser.expected).toBe('a whole number from 1 to 3');
    expect(wholeNumber(1).expected).toBe('a whole number of at least 1');
  });

  it('refuses a number that JavaScript cannot hold exactly', () => {
    expect(wholeNumber(0).parse('9007199254740991')).toBe(Number.MAX_SAFE_INTEGER);
    expect(wholeNumber(0).parse('9007199254740992')).toBeUndefined();
    expect(wholeNumber(0).parse('9'.repeat(400))).toBeUndefined();
  });

  it('reads back every number in every base', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), fc.constantFrom(2, 8, 10, 16), (number, base) => {
        const prefix = { 2: '0b', 8: '0o', 10: '', 16: '0x' }[base];
        expect(wholeNumber(0).parse(`${prefix}${number.toString(base)}`)).toBe(number);
      }),
    );
  });
});

describe('a decimal number', () => {
  it.each([
    ['0', 0],
    ['0.8', 0.8],
    ['.5', 0.5],
    ['1.', 1],
    ['1e-1', 0.1],
    ['+0.5', 0.5],
  ])('reads %s as %d', (text, value) => {
    expect(decimalNumber(0, 1).parse(text)).toBe(value);
  });

  it.each(['', '.', 'NaN', 'inf', 'Infinity', '1e400', '0x1', '0,8', '80%', '1.1', '-0.1', ' 0.5'])(
    'refuses %j',
    (text) => {
      expect(decimalNumber(0, 1).parse(text)).toBeUndefined();
    },
  );
});
