import fc from 'fast-check';
import { COPY } from '../../../support/h2-session';
import { createRejectionBlocks, framed, framedCopy } from '../../../../src/wire/grpc/responses';
import { grpcStatus, percentEncode } from '../../../../src/wire/grpc/status';
import { parseTimeout } from '../../../../src/wire/grpc/call-plan';

describe('a grpc-timeout', () => {
  it.each([
    ['2H', 7_200_000],
    ['3M', 180_000],
    ['15S', 15_000],
    ['20m', 20],
    ['1500u', 1.5],
    ['500000n', 0.5],
    ['0m', 0],
    ['99999999H', 99_999_999 * 3_600_000],
  ])('%s means %d ms', (text, milliseconds) => {
    expect(parseTimeout(text)).toBeCloseTo(milliseconds, 9);
  });

  it.each(['', 'm', '20', '20x', '123456789m', '-1S', '+1S', '1.5S', ' 1S', '1S ', '1 S', '１S'])(
    '"%s" is none',
    (text) => {
      expect(parseTimeout(text)).toBeUndefined();
    },
  );
});

describe('a grpc-message', () => {
  it.each([
    ['plain text, with ~ and "', 'plain text, with ~ and "'],
    ['100 %', '100 %25'],
    ['a\nb\u007f', 'a%0Ab%7F'],
    ['é 漢', '%C3%A9 %E6%BC%A2'],
    ['\ud800', '%EF%BF%BD'],
  ])('carries %j', (text, encoded) => {
    expect(percentEncode(text)).toBe(encoded);
  });

  it('is read back as it was by any gRPC client', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const encoded = percentEncode(text);
        expect(encoded).toMatch(/^[ -~]*$/);
        expect(decodeURIComponent(encoded)).toBe(text);
      }),
    );
  });
});

describe('the blocks of refusals', () => {
  it('are made once, and forgotten before they become many', () => {
    const block = createRejectionBlocks();
    const first = block({ code: 14, message: 'away' });
    expect(block({ code: 14, message: 'away' })).toBe(first);
    expect(block({ code: 13, message: 'away' })).not.toBe(first);
    for (let index = 0; index < 100; index++) block({ code: 14, message: String(index) });
    expect(block({ code: 14, message: 'away' })).not.toBe(first);
    expect(block({ code: 14, message: 'away' })).toEqual(first);
  });
});

describe('a status', () => {
  it.each([
    ['keeps a message of 1,024 characters', 'x'.repeat(1_024), 'x'.repeat(1_024)],
    ['cuts a longer message', 'x'.repeat(1_025), `${'x'.repeat(1_024)}…`],
    ['does not cut a surrogate pair in half', `${'x'.repeat(1_023)}🙂`, `${'x'.repeat(1_023)}…`],
  ])('%s', (_name, message, sent) => {
    expect(grpcStatus(13, message)).toEqual({ code: 13, message: sent });
  });
});

describe('the prefix of a message', () => {
  it('carries the length, whichever way the message is written', () => {
    const text = Buffer.from('x'.repeat(0x01_02_03));
    const copy = framedCopy(text);
    expect([...copy.subarray(0, 5)]).toEqual([0, 0, 1, 2, 3]);
    const out = new Uint8Array(text.length + 7).fill(0xee);
    const { maxBytes, write } = framed(COPY);
    expect(maxBytes(text)).toBe(copy.length);
    expect(write(text, out, 1)).toBe(text.length + 6);
    expect(Buffer.from(out.subarray(1, -1))).toEqual(Buffer.from(copy));
  });
});
