import fc from 'fast-check';
import { createHpackDecoder, decodeBlock } from '../../../../../src/wire/http2/hpack/decoder';
import { createHeaderReader } from '../../../../../src/wire/http2/hpack/header-reader';
import { field, plain } from '../../../../support/h2-frames';

const octet = (value: number) => Buffer.from([value]);
const word = fc.constantFrom('a', 'b', 'te', 'x-id', ':path', 'Bad', '');

/** One representation of a field; few names, values and indexes, so that blocks and strings repeat. */
const representation = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 61, max: 64 }).map((index) => octet(0x80 | index)) },
  fc.integer({ min: 0, max: 75 }).map((index) => octet(0x80 | index)),
  fc.tuple(word, word, fc.constantFrom(0x40, 0x00, 0x10)).map((parts) => field(...parts)),
  fc
    .tuple(fc.constantFrom(0x40, 0x00, 0x10), fc.integer({ min: 1, max: 14 }), word)
    .map(([pattern, index, value]) => Buffer.concat([octet(pattern | index), plain(value)])),
  fc
    .tuple(fc.integer({ min: 63, max: 66 }), word)
    .map(([index, value]) => Buffer.concat([Buffer.from([0x7f, index - 63]), plain(value)])),
  fc.nat(200).map((length) => field('x-pad', 'p'.repeat(length % 120), 0x40)),
);

const sizeUpdate = fc.oneof(
  fc.integer({ min: 0, max: 30 }).map((size) => octet(0x20 | size)),
  fc.constant(Buffer.from('3fe11f', 'hex')), // 4096
  fc.constant(Buffer.from('3f45', 'hex')), // 100
);

const block = fc
  .tuple(
    fc.oneof(
      { weight: 3, arbitrary: fc.constant(octet(0).subarray(1)) },
      { weight: 1, arbitrary: sizeUpdate },
    ),
    fc.array(representation, { maxLength: 5 }),
  )
  .map(([update, fields]) => Buffer.concat([update, ...fields]));

/** A session: new blocks, and again and again old ones. */
const session = fc
  .tuple(fc.array(block, { minLength: 1, maxLength: 8 }), fc.array(fc.nat(), { maxLength: 60 }))
  .map(([blocks, order]) => order.map((pick) => blocks[pick % blocks.length] ?? octet(0x82)));

describe('the header-block cache', () => {
  it('never changes an answer, whatever happens to the dynamic table or on other connections', () => {
    const headerReader = createHeaderReader();
    fc.assert(
      fc.property(session, (blocks) => {
        const cached = createHpackDecoder(2000, true, headerReader);
        const plainly = createHpackDecoder(2000, false);
        for (const bytes of blocks) {
          // The socket's memory is used again: what is remembered must be a copy.
          const lent = Buffer.from(bytes);
          const list = decodeBlock(cached, lent, 0, lent.length);
          lent.fill(0xff);
          expect(list).toEqual(decodeBlock(plainly, bytes, 0, bytes.length));
          if (list === undefined) {
            expect(cached.headers.block.fault).toBe(plainly.headers.block.fault);
            return;
          }
          expect([cached.table.bytes, cached.table.count]).toEqual([
            plainly.table.bytes,
            plainly.table.count,
          ]);
        }
      }),
      { numRuns: 1500 },
    );
  });

  it("is of use: most blocks of a session like Envoy's come from it", () => {
    const decoder = createHpackDecoder(16_384, true);
    const first = Buffer.concat([
      octet(0x83),
      field('x-timeout', '20m', 0x40),
      field('te', 'trailers', 0x40),
    ]);
    decodeBlock(decoder, first, 0, first.length);
    const again = Buffer.concat([octet(0x83), field(':path', '/a'), Buffer.from([0xbe, 0xbf])]);
    const lists = Array.from({ length: 10 }, () => decodeBlock(decoder, again, 0, again.length));
    expect(new Set(lists).size).toBe(1);
    expect(lists[0]?.values).toEqual(['POST', '/a', 'trailers', '20m']);
  });
});
