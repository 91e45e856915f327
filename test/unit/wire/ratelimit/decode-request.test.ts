import fc from 'fast-check';
import { Writer } from 'protobufjs';
import { createRequestDecoder, isMalformed } from '../../../../src/wire/ratelimit/decode-request';
import type { WireRequest } from '../../../../src/wire/ratelimit/messages';
import { requestType } from './schema';
import { UNBOUNDED } from '../../../support/bounds';

const decodeRequest = createRequestDecoder(UNBOUNDED);

function decode(bytes: Uint8Array): WireRequest {
  const decoded = decodeRequest(bytes, 0, bytes.length);
  if (isMalformed(decoded)) throw new Error(decoded.reason);
  return decoded;
}

function reasonOf(...bytes: number[]): string {
  const decoded = decodeRequest(Uint8Array.from(bytes), 0, bytes.length);
  return isMalformed(decoded) ? decoded.reason : 'decoded';
}

/** A descriptor (field 2 of the request) with this content. */
const inDescriptor = (...content: number[]) => Uint8Array.of(0x12, content.length, ...content);

const text = fc.oneof(
  fc.string({ maxLength: 20 }),
  fc.string({ unit: 'grapheme', maxLength: 80 }),
  fc.constantFrom('', 'user', 'remote_address', '\u0000', '\ufeffbom', 'x'.repeat(200)),
);
const uint32 = fc.oneof(fc.integer({ min: 0, max: 0xffff_ffff }), fc.constantFrom(0, 1, 127, 128));
const uint64 = fc.oneof(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), uint32.map(BigInt));
const entry = fc.record({ key: text, value: text });
const limit = fc.record({ requestsPerUnit: uint32, unit: fc.integer() });
const descriptor = fc.record({
  entries: fc.array(entry, { maxLength: 4 }),
  limit: fc.option(limit, { nil: undefined }),
  hits: fc.option(uint64, { nil: undefined }),
  isNegativeHits: fc.boolean(),
});
const request = fc.record({
  domain: text,
  descriptors: fc.array(descriptor, { maxLength: 4 }),
  hitsAddend: uint32,
});
type Request = typeof request extends fc.Arbitrary<infer T> ? T : never;
type Descriptor = Request['descriptors'][number];

const digits = (value: bigint) => (value > BigInt(Number.MAX_SAFE_INTEGER) ? value : Number(value));
const expected = (value: Request) => ({
  ...value,
  descriptors: value.descriptors.map((one) => ({
    ...one,
    hits: one.hits === undefined ? undefined : digits(one.hits),
  })),
});

const bytesOf = (write: (writer: Writer) => unknown): Uint8Array => {
  const writer = Writer.create();
  write(writer);
  return writer.finish();
};

/** Varint with needless continuation bytes, which protobuf reads all the same. */
const unknownField = fc.oneof(
  fc
    .tuple(fc.integer({ min: 20, max: 2 ** 29 - 1 }), uint64)
    .map(([field, value]) =>
      bytesOf((writer) => writer.uint32(field * 8).uint64(value.toString())),
    ),
  fc
    .integer({ min: 5, max: 900 })
    .map((field) => bytesOf((w) => w.uint32(field * 8 + 1).double(1.5))),
  fc
    .integer({ min: 5, max: 900 })
    .map((field) => bytesOf((w) => w.uint32(field * 8 + 5).fixed32(7))),
  fc
    .tuple(fc.integer({ min: 5, max: 900 }), fc.uint8Array({ maxLength: 300 }))
    .map(([field, bytes]) => bytesOf((w) => w.uint32(field * 8 + 2).bytes(bytes))),
  // A group that holds a varint and another group.
  fc.constant(Uint8Array.of(0x33, 0x08, 0x01, 0x3b, 0x12, 0x01, 0xff, 0x3c, 0x34)),
  // Known fields of another wire type.
  fc.constantFrom(
    Uint8Array.of(0x08, 5),
    Uint8Array.of(0x0d, 1, 2, 3, 4),
    Uint8Array.of(0x11, 1, 2, 3, 4, 5, 6, 7, 8),
  ),
);

/** The fields of a message in pieces, so that they can be mixed with others. */
function piecesOfDescriptor(one: Descriptor): Uint8Array[] {
  const pieces = one.entries.map((each) =>
    bytesOf((w) => {
      w.uint32(0x0a).fork().uint32(0x0a).string('overwritten').uint32(0x12).string(each.value);
      w.uint32(0x0a).string(each.key).ldelim();
    }),
  );
  if (one.limit !== undefined) {
    const { requestsPerUnit, unit } = one.limit;
    pieces.push(
      bytesOf((w) => w.uint32(0x12).fork().uint32(0x08).uint32(requestsPerUnit).ldelim()),
    );
    pieces.push(bytesOf((w) => w.uint32(0x12).fork().uint32(0x10).int32(unit).ldelim()));
  }
  if (one.hits !== undefined) {
    const hits = one.hits.toString();
    pieces.push(bytesOf((w) => w.uint32(0x1a).fork().uint32(0x08).uint64(hits).ldelim()));
    pieces.push(Uint8Array.of(0x1a, 0));
  }
  pieces.push(bytesOf((w) => w.uint32(0x20).bool(!one.isNegativeHits)));
  pieces.push(bytesOf((w) => w.uint32(0x20).bool(one.isNegativeHits)));
  return pieces;
}

function mixed(pieces: readonly Uint8Array[], unknown: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(
    pieces.flatMap((piece, index) => [
      piece,
      unknown[index % unknown.length] ?? piece.subarray(0, 0),
    ]),
  );
}

function encodeMixed(value: Request, unknown: readonly Uint8Array[]): Uint8Array {
  const pieces = value.descriptors.map((one) =>
    bytesOf((w) => w.uint32(0x12).bytes(mixed(piecesOfDescriptor(one), unknown))),
  );
  pieces.unshift(bytesOf((w) => w.uint32(0x0a).string('other').uint32(0x18).uint32(9)));
  pieces.push(
    bytesOf((w) => w.uint32(0x0a).string(value.domain).uint32(0x18).uint32(value.hitsAddend)),
  );
  return mixed(pieces, unknown);
}

describe('decoding a rate limit request', () => {
  it('reads what protobufjs writes', () => {
    fc.assert(
      fc.property(request, (value) => {
        const bytes = requestType
          .encode(
            requestType.fromObject({
              ...value,
              descriptors: value.descriptors.map((one) => ({
                ...one,
                hitsAddend: one.hits === undefined ? undefined : { value: one.hits.toString() },
              })),
            }),
          )
          .finish();
        expect(decode(bytes)).toEqual(expected(value));
      }),
      { numRuns: 500 },
    );
  });

  it('merges repeated fields and skips unknown ones wherever they stand', () => {
    fc.assert(
      fc.property(request, fc.array(unknownField, { maxLength: 3 }), (value, unknown) => {
        expect(decode(encodeMixed(value, unknown))).toEqual(expected(value));
      }),
      { numRuns: 500 },
    );
  });

  it('reads a message in the middle of other bytes and leaves those alone', () => {
    const message = Buffer.from('\x0a\x04edge\x18\x03', 'latin1');
    const around = Buffer.concat([Buffer.alloc(3, 0xff), message, Buffer.alloc(9, 0xff)]);
    expect(decodeRequest(around, 3, 3 + message.length)).toEqual({
      domain: 'edge',
      descriptors: [],
      hitsAddend: 3,
    });
  });

  it('answers an equal text with the same string, also after another took its place', () => {
    const own = createRequestDecoder(UNBOUNDED);
    for (let round = 0; round < 3; round++) {
      for (let index = 0; index < 3000; index++) {
        const domain = `domain-${String(index)}`;
        const bytes = Buffer.concat([Buffer.from([0x0a, domain.length]), Buffer.from(domain)]);
        expect(own(bytes, 0, bytes.length)).toMatchObject({ domain });
      }
    }
  });

  it.each([
    ['a number up to 2^53 - 1', [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f], 2 ** 53 - 1],
    ['a bigint from 2^53', [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x10], 2n ** 53n],
    ['all 64 bits', [...Array<number>(9).fill(0xff), 0x01], 2n ** 64n - 1n],
    ['a zero that is present', [0x00], 0],
    ['a needlessly long varint', [0x85, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00], 5],
  ])('gives hits_addend as %s', (_, varint, hits) => {
    const bytes = inDescriptor(0x1a, varint.length + 1, 0x08, ...varint);
    expect(decode(bytes).descriptors[0]?.hits).toEqual(hits);
  });

  it('takes the low 32 bits of a longer uint32 and of a longer enum', () => {
    const long = [0x85, 0x80, 0x80, 0x80, 0x30];
    expect(decode(Uint8Array.of(0x18, ...long)).hitsAddend).toBe(5);
    expect(decode(inDescriptor(0x12, 6, 0x10, ...long)).descriptors[0]?.limit?.unit).toBe(5);
    const minusOne = [...Array<number>(9).fill(0xff), 0x01];
    expect(decode(inDescriptor(0x12, 11, 0x10, ...minusOne)).descriptors[0]?.limit?.unit).toBe(-1);
  });

  it('takes every varint but zero for true', () => {
    const far = [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01];
    expect(decode(inDescriptor(0x20, ...far)).descriptors[0]?.isNegativeHits).toBe(true);
    expect(decode(inDescriptor(0x20, 0x80, 0x00)).descriptors[0]?.isNegativeHits).toBe(false);
  });

  it('reads a length of several bytes', () => {
    const domain = 'd'.repeat(300);
    expect(
      decode(Buffer.concat([Buffer.from([0x0a, 0xac, 0x02]), Buffer.from(domain)])).domain,
    ).toBe(domain);
  });

  it.each([
    ['a varint is cut off', [0x18]],
    ['a varint is cut off', [0x18, 0x80, 0x80]],
    ['a varint is cut off', [0x12, 0x02, 0x20, 0x80, 0x00]],
    ['a varint is cut off', [0x0a, 0x80]],
    ['a varint is cut off', [0x80]],
    ['a varint is longer than 64 bits', [0x18, ...Array<number>(10).fill(0x80), 0x01]],
    ['a varint is longer than 64 bits', [0x18, ...Array<number>(9).fill(0x80), 0x02, 0, 0]],
    ['a varint is longer than 64 bits', [0x12, 12, 0x20, ...Array<number>(11).fill(0x80)]],
    ['a varint is longer than 64 bits', [0x20, ...Array<number>(9).fill(0x80), 0x02, 0, 0]],
    ['a field number is outside of 1 to 536870911', [0x00, 0x00]],
    ['a field number is outside of 1 to 536870911', [0x07]],
    ['a field number is outside of 1 to 536870911', [0x80, 0x80, 0x80, 0x80, 0x10, 0x00]],
    ['a field number is outside of 1 to 536870911', [...Array<number>(9).fill(0xff), 0x01, 0x00]],
    ['a length reaches beyond the end of its message', [0x0a, 0x05, 0x61]],
    ['a length reaches beyond the end of its message', [0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f, 0x61]],
    [
      'a length reaches beyond the end of its message',
      [0x0a, ...Array<number>(9).fill(0xff), 0x01],
    ],
    ['a length reaches beyond the end of its message', [0x12, 0x03, 0x0a, 0x02, 0x0a, 0x00]],
    ['a length reaches beyond the end of its message', [0x32, 0x05, 0x61]],
    ['a fixed-length field is cut off', [0x31, 0x01, 0x02]],
    ['a fixed-length field is cut off', [0x35, 0x01, 0x02]],
    ['wire type 6 does not exist', [0x36]],
    ['wire type 7 does not exist', [0x0f]],
    ['a group ends that did not begin', [0x34]],
    ['a group ends that did not begin', [0x33, 0x3c]],
    ['a group does not end', [0x33, 0x08, 0x01]],
    ['groups are nested too deep', Array<number>(5000).fill(0x33)],
    ['a string is not valid UTF-8', [0x0a, 0x01, 0xff]],
    ['a string is not valid UTF-8', [0x0a, 0x03, 0xed, 0xa0, 0x80]],
    ['a string is not valid UTF-8', [0x0a, 0x41, ...Array<number>(64).fill(0x61), 0xc3]],
    ['a string is not valid UTF-8', [0x12, 0x05, 0x0a, 0x03, 0x12, 0x01, 0x80]],
  ])('refuses with "%s"', (reason, bytes) => {
    expect(reasonOf(...bytes)).toBe(reason);
  });

  it('skips unknown fields inside of every message', () => {
    const unknown = [0x7a, 1, 0];
    const bytes = inDescriptor(
      ...[0x12, 7, ...unknown, 0x08, 1, 0x10, 2],
      ...[0x1a, 5, ...unknown, 0x08, 6],
      ...[0x0a, 9, ...unknown, 0x0a, 1, 0x61, 0x12, 1, 0x62],
    );
    expect(decode(bytes).descriptors).toEqual([
      {
        entries: [{ key: 'a', value: 'b' }],
        limit: { requestsPerUnit: 1, unit: 2 },
        hits: 6,
        isNegativeHits: false,
      },
    ]);
  });

  it('takes groups up to the permitted depth', () => {
    const depth = Array<number>(100);
    expect(reasonOf(...depth.fill(0x33), ...Array<number>(100).fill(0x34))).toBe('decoded');
  });

  it('reads the next message well after a malformed one', () => {
    expect(reasonOf(0x12, 0x03, 0x0a, 0x02, 0x0a)).not.toBe('decoded');
    expect(decode(Buffer.from('\x0a\x04edge', 'latin1')).domain).toBe('edge');
  });
});
