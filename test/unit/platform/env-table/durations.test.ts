import fc from 'fast-check';
import { duration, parseDuration } from '../../../../src/platform/env-table/parsers';

const UNIT_NS = { ns: 1, us: 1e3, µs: 1e3, μs: 1e3, ms: 1e6, s: 1e9, m: 60e9, h: 3600e9 };
const unit = fc.constantFrom(...(Object.keys(UNIT_NS) as (keyof typeof UNIT_NS)[]));

describe('a duration as Go writes it', () => {
  it.each([
    ['0', 0],
    ['-0', 0],
    ['+0', 0],
    ['00s', 0],
    ['150us', 0.15],
    ['150µs', 0.15],
    ['150μs', 0.15],
    ['1ns', 0.000001],
    ['0.9ns', 0],
    ['10s', 10_000],
    ['1h30m', 5_400_000],
    ['1.5h', 5_400_000],
    ['.5s', 500],
    ['1.s', 1_000],
    ['-1.5h', -5_400_000],
    ['+5s', 5_000],
    ['1m1h', 3_660_000],
    ['1ms1ms', 2],
    ['9223372036854775807ns', 9_223_372_036_854.775],
    ['-9223372036854775808ns', -9_223_372_036_854.775],
  ])('reads %s as %d ms', (text, milliseconds) => {
    expect(parseDuration(text)).toBeCloseTo(milliseconds, 9);
  });

  it.each([
    [
      '',
      's',
      '.s',
      '1',
      '10',
      '1e3s',
      '1 s',
      ' 1s',
      '1s ',
      '1S',
      '1d',
      '1h-1m',
      '0x1s',
      '1_0s',
      '--1s',
    ],
    ['1s\n', '1.2.3s', '∞', '+', '3000000h', '9223372036854775808ns', '-9223372036854775809ns'],
  ])('refuses what Go refuses', (...texts) => {
    for (const text of texts) expect([text, parseDuration(text)]).toEqual([text, undefined]);
  });

  it('adds up its components', () => {
    const component = fc.tuple(fc.integer({ min: 0, max: 9_999 }), unit);
    fc.assert(
      fc.property(
        fc.array(component, { minLength: 1, maxLength: 6 }),
        fc.boolean(),
        (parts, minus) => {
          const text = parts.map(([count, name]) => `${String(count)}${name}`).join('');
          const sum = parts.reduce((total, [n, name]) => total + BigInt(n * UNIT_NS[name]), 0n);
          const milliseconds = Number(sum) / 1e6;
          expect(parseDuration(minus ? `-${text}` : text)).toBe(
            minus ? 0 - milliseconds : milliseconds,
          );
        },
      ),
    );
  });

  it('refuses a very long text', () => {
    expect(parseDuration(`${'1'.repeat(100_000)}x`)).toBeUndefined();
  });

  it('takes any text without throwing', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[-+.\dhmnsuµ]*$/)), (text) => {
        const milliseconds = parseDuration(text);
        expect(milliseconds === undefined || Number.isFinite(milliseconds)).toBe(true);
      }),
    );
  });
});

describe('a duration in a range', () => {
  it('holds both ends and nothing outside', () => {
    const parser = duration({ min: '1ms', max: '1h' });
    expect(
      ['1ms', '1h', '999us', '1h1ns', '-1s', 'soon'].map((text) => parser.parse(text)),
    ).toEqual([1, 3_600_000, undefined, undefined, undefined, undefined]);
    expect(parser.expected).toBe('a duration from 1ms to 1h, such as 150us, 10s or 1h30m');
  });

  it('starts at 0 and has no upper end unless told', () => {
    const parser = duration();
    expect(['0', '-1ns', '2000000h'].map((text) => parser.parse(text))).toEqual([
      0,
      undefined,
      7_200_000_000_000,
    ]);
    expect(parser.expected).toBe('a duration of at least 0, such as 150us, 10s or 1h30m');
  });
});
