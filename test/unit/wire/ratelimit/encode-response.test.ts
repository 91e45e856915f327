import fc from 'fast-check';
import { roomForResponse, writeResponse } from '../../../../src/wire/ratelimit/encode-response';
import type {
  WireJson,
  WireResponse,
  WireStatus,
  WireUnit,
} from '../../../../src/wire/ratelimit/messages';
import { responseType } from './schema';

const NUMBERS: Record<WireUnit, number> = {
  UNKNOWN: 0,
  SECOND: 1,
  MINUTE: 2,
  HOUR: 3,
  DAY: 4,
  MONTH: 5,
  YEAR: 6,
  WEEK: 7,
};

/** Writes into exactly the promised room, between guard bytes that must survive. */
function encode(response: WireResponse): Uint8Array {
  const room = roomForResponse(response);
  const bytes = new Uint8Array(room + 8).fill(0xee);
  const end = writeResponse(response, bytes, 4);
  expect(end).toBeLessThanOrEqual(room + 4);
  expect([...bytes.subarray(0, 4), ...bytes.subarray(room + 4)]).toEqual(Array(8).fill(0xee));
  return bytes.subarray(4, end);
}

const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc.constantFrom('', 'a'.repeat(127), 'b'.repeat(128), 'é'.repeat(90), '漢'.repeat(6000)),
);
const uint32 = fc.integer({ min: 0, max: 0xffff_ffff });
const code = fc.constantFrom('OK' as const, 'OVER_LIMIT' as const);
const { json } = fc.letrec<{ json: WireJson }>((tie) => ({
  json: fc.oneof(
    { depthSize: 'small' },
    fc.constant(null),
    fc.boolean(),
    fc.double({ noNaN: true }),
    text,
    fc.array(tie('json'), { maxLength: 3 }),
    fc.dictionary(text, tie('json'), { maxKeys: 3 }),
  ),
}));
const response = fc.record({
  overallCode: code,
  statuses: fc.array(
    fc.record({
      code,
      currentLimit: fc.option(
        fc.record({
          requestsPerUnit: uint32,
          unit: fc.constantFrom(...(Object.keys(NUMBERS) as WireUnit[])),
          name: text,
        }),
        { nil: undefined },
      ),
      limitRemaining: uint32,
      secondsUntilReset: fc.option(fc.integer({ min: 0, max: 31_536_000 }), { nil: undefined }),
    }),
    { maxLength: 4 },
  ),
  responseHeaders: fc.array(fc.record({ key: text, value: text }), { maxLength: 3 }),
  rawBody: fc.option(text, { nil: undefined }),
  dynamicMetadata: fc.option(fc.dictionary(text, json, { maxKeys: 4 }), { nil: undefined }),
});

const toValue = (value: WireJson): object => {
  if (value === null) return { nullValue: 0 };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'number') return { numberValue: value };
  if (typeof value === 'string') return { stringValue: value };
  if (Array.isArray(value)) return { listValue: { values: value.map(toValue) } };
  return { structValue: toStruct(value as Record<string, WireJson>) };
};
const toStruct = (value: Record<string, WireJson>) => ({
  fields: Object.fromEntries(Object.entries(value).map(([name, each]) => [name, toValue(each)])),
});

describe('encoding a rate limit response', () => {
  it('writes what protobufjs reads, within the room it asked for', () => {
    fc.assert(
      fc.property(response, (value) => {
        const read = responseType.decode(encode(value));
        const wanted = responseType.fromObject({
          overallCode: value.overallCode === 'OK' ? 1 : 2,
          statuses: value.statuses.map((status) => ({
            code: status.code === 'OK' ? 1 : 2,
            currentLimit: status.currentLimit && {
              ...status.currentLimit,
              unit: NUMBERS[status.currentLimit.unit],
            },
            limitRemaining: status.limitRemaining,
            durationUntilReset:
              status.secondsUntilReset === undefined
                ? undefined
                : { seconds: status.secondsUntilReset },
          })),
          responseHeadersToAdd: value.responseHeaders,
          rawBody: value.rawBody === undefined ? undefined : Buffer.from(value.rawBody),
          dynamicMetadata: value.dynamicMetadata && toStruct(value.dynamicMetadata),
        });
        const options = { longs: String, defaults: true } as const;
        expect(responseType.toObject(read, options)).toEqual(
          responseType.toObject(responseType.decode(responseType.encode(wanted).finish()), options),
        );
      }),
      { numRuns: 300 },
    );
  });

  it('leaves out what is at its default', () => {
    const bytes = encode({
      overallCode: 'OK',
      statuses: [
        { code: 'OK', currentLimit: undefined, limitRemaining: 0, secondsUntilReset: undefined },
      ],
      responseHeaders: [],
      dynamicMetadata: undefined,
    });
    expect([...bytes]).toEqual([0x08, 1, 0x12, 2, 0x08, 1]);
  });

  it('writes an unlimited remainder, a window that ends now and the unit WEEK', () => {
    const bytes = encode({
      overallCode: 'OVER_LIMIT',
      statuses: [
        {
          code: 'OVER_LIMIT',
          currentLimit: { requestsPerUnit: 0, unit: 'WEEK', name: '' },
          limitRemaining: 0xffff_ffff,
          secondsUntilReset: 0,
        },
      ],
      responseHeaders: [{ key: '', value: '' }],
      dynamicMetadata: {},
    });
    expect(Buffer.from(bytes).toString('hex')).toBe(
      '0802' + '120e0802' + '12021007' + '18ffffffff0f' + '2200' + '1a00' + '3200',
    );
  });

  it('leaves out a unit that no word says, and writes the number of units as a wrapped field 4', () => {
    const limit = { requestsPerUnit: 100, name: '' };
    const toStatus = (currentLimit: NonNullable<WireStatus['currentLimit']>): WireStatus => ({
      code: 'OK',
      currentLimit,
      limitRemaining: 0,
      secondsUntilReset: undefined,
    });
    const bytes = encode({
      overallCode: 'OK',
      statuses: [
        toStatus({ ...limit, unit: 'UNKNOWN' }),
        toStatus({ ...limit, unit: 'MINUTE', unitMultiplier: 300 }),
        toStatus({
          requestsPerUnit: 0xffff_ffff,
          unit: 'MINUTE',
          name: 'n',
          unitMultiplier: 0xffff_ffff,
        }),
      ],
      responseHeaders: [],
      dynamicMetadata: undefined,
    });
    expect(Buffer.from(bytes).toString('hex')).toBe(
      '0801' +
        '12060801' +
        '12020864' +
        '120d0801' +
        '120908641002' +
        '220308ac02' +
        '12170801' +
        '121308ffffffff0f1002' +
        '1a016e' +
        '220608ffffffff0f',
    );
  });

  it.each([
    [2 ** 32, 0xffff_ffff],
    [Infinity, 0xffff_ffff],
    [-1, 0],
    [-Infinity, 0],
    [NaN, 0],
  ])('writes a remainder of %d as %d', (limitRemaining, written) => {
    const status = {
      code: 'OK',
      currentLimit: undefined,
      limitRemaining,
      secondsUntilReset: 1,
    } as const;
    const bytes = encode({
      overallCode: 'OK',
      statuses: [status],
      responseHeaders: [],
      dynamicMetadata: undefined,
    });
    const { statuses } = responseType.toObject(responseType.decode(bytes), { defaults: true }) as {
      statuses: readonly { readonly limitRemaining: number }[];
    };
    expect(statuses[0]?.limitRemaining).toBe(written);
  });

  it('writes a name that is no well-formed text as replacement characters', () => {
    const bytes = encode({
      overallCode: 'OK',
      statuses: [],
      responseHeaders: [{ key: 'k', value: '\ud800' }],
      dynamicMetadata: undefined,
    });
    expect(responseType.decode(bytes).toJSON()).toMatchObject({
      responseHeadersToAdd: [{ key: 'k', value: '\ufffd' }],
    });
  });
});
