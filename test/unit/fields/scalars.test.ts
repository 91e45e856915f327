import fc from 'fast-check';
import { resolveScalar } from '../../../src/fields/scalars';

const resolve = (text: string) =>
  resolveScalar({ kind: 'scalar', text, quoted: false, at: { line: 1, column: 1 } });

describe('an unquoted scalar', () => {
  it.each(['', '~', 'null', 'Null', 'NULL'])('%j is null', (text) => {
    expect(resolve(text)).toEqual({ type: 'null' });
  });

  it.each(['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON'])(
    '%s is true',
    (text) => {
      expect(resolve(text)).toEqual({ type: 'boolean', value: true });
    },
  );

  it.each(['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF'])(
    '%s is false',
    (text) => {
      expect(resolve(text)).toEqual({ type: 'boolean', value: false });
    },
  );

  it.each([
    ['0', 0],
    ['-0', 0],
    ['12', 12],
    ['+12', 12],
    ['-12', -12],
    ['1_000', 1000],
    ['010', 8],
    ['0_10', 8],
    ['0o17', 15],
    ['-017', -15],
    ['0x1F', 31],
    ['0X1f', 31],
    ['0b101', 5],
    ['4294967296', 4294967296],
  ])('%s is the whole number %d', (text, value) => {
    expect(resolve(text)).toEqual({ type: 'integer', value });
  });

  it.each([
    ['1.5', 1.5],
    ['-.5', -0.5],
    ['5.', 5],
    ['1e3', 1000],
    ['1_0.5E-1', 1.05],
  ])('%s is the fraction %d', (text, value) => {
    expect(resolve(text)).toEqual({ type: 'fraction', value });
  });

  it.each(['.inf', '-.Inf', '+.INF', '.nan', '.NaN', '.NAN'])('%s is no finite number', (text) => {
    expect(resolve(text)).toEqual({ type: 'fraction', value: NaN });
  });

  it.each([
    ...[
      'hello',
      'nULL',
      'yES',
      'tRUE',
      'oN',
      '08',
      '-09',
      '1:30',
      '2024-01-01',
      '10.0.0.1',
      '1.2.3',
    ],
    ...['0x', '0b2', '0o8', '-', '+', '.', '..', '1e', 'e3', '_1', '-.nan', '.INf', '1,000', '5 '],
  ])('%j is a text', (text) => {
    expect(resolve(text)).toEqual({ type: 'text', value: text });
  });
});

it('a quoted scalar is always a text', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.constantFrom('', '1', 'yes', '~', '1.5')), (text) => {
      const scalar = { kind: 'scalar', text, quoted: true, at: { line: 1, column: 1 } } as const;
      expect(resolveScalar(scalar)).toEqual({ type: 'text', value: text });
    }),
  );
});

it('whole numbers keep their size in every base', () => {
  const sizes = fc.integer({ min: 0, max: 0xffff_ffff });
  fc.assert(
    fc.property(sizes, fc.constantFrom(['', 10], ['0x', 16], ['0', 8], ['0b', 2]), (size, base) => {
      const [prefix, radix] = base as [string, number];
      expect(resolve(prefix + size.toString(radix))).toEqual({ type: 'integer', value: size });
    }),
  );
});
