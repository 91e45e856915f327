import fc from 'fast-check';
import { requestType } from '../unit/wire/ratelimit/schema';
import { createRequestDecoder, isMalformed } from '../../src/wire/ratelimit/decode-request';
import { decodeHealthRequest } from '../../src/wire/grpc/health';
import { UNBOUNDED } from '../support/bounds';

const text = fc.string({ unit: 'grapheme', maxLength: 12 });
const valid = fc
  .record({
    domain: text,
    hitsAddend: fc.nat(),
    descriptors: fc.array(
      fc.record({
        entries: fc.array(fc.record({ key: text, value: text }), { maxLength: 3 }),
        limit: fc.record({ requestsPerUnit: fc.nat(), unit: fc.nat(9) }),
        hitsAddend: fc.record({ value: fc.nat() }),
        isNegativeHits: fc.boolean(),
      }),
      { maxLength: 3 },
    ),
  })
  .map((request) => Buffer.from(requestType.encode(requestType.fromObject(request)).finish()));

/** A few octets changed, taken out or put in. */
const mutated = fc
  .tuple(
    valid,
    fc.array(fc.tuple(fc.nat(), fc.nat(255), fc.constantFrom('set', 'cut', 'add')), {
      maxLength: 5,
    }),
  )
  .map(([bytes, changes]) => {
    const octets = [...bytes];
    for (const [where, octet, how] of changes) {
      const at = where % (octets.length + 1);
      if (how === 'set') octets[at] = octet;
      else octets.splice(at, how === 'cut' ? 1 : 0, ...(how === 'cut' ? [] : [octet]));
    }
    return Uint8Array.from(octets);
  });

const bytes = fc.oneof(mutated, fc.uint8Array({ maxLength: 200 }));

describe('any octets', () => {
  it('are a request of the declared types or malformed, whatever lies around them', () => {
    const decode = createRequestDecoder(UNBOUNDED);
    fc.assert(
      fc.property(bytes, fc.uint8Array({ maxLength: 20 }), (octets, around) => {
        const decoded = decode(octets, 0, octets.length);
        const framed = Buffer.concat([around, octets, around]);
        expect(decode(framed, around.length, around.length + octets.length)).toEqual(decoded);
        if (isMalformed(decoded)) {
          expect(decoded.reason).toMatch(/^[a-z][\x20-\x7e]{9,80}$/);
          return;
        }
        expect(typeof decoded.domain).toBe('string');
        expect(Number.isInteger(decoded.hitsAddend) && decoded.hitsAddend >= 0).toBe(true);
        for (const { entries, limit, isNegativeHits } of decoded.descriptors) {
          expect(
            entries.every(({ key, value }) => typeof key + typeof value === 'stringstring'),
          ).toBe(true);
          expect(limit === undefined || Number.isInteger(limit.unit)).toBe(true);
          expect(typeof isNegativeHits).toBe('boolean');
        }
      }),
      { numRuns: 5_000 },
    );
  });

  it('give what protobufjs gives, where both take them', () => {
    const decode = createRequestDecoder(UNBOUNDED);
    fc.assert(
      fc.property(valid, (octets) => {
        const decoded = decode(octets, 0, octets.length);
        const theirs = requestType.toObject(requestType.decode(octets), { defaults: true }) as {
          domain: string;
        };
        expect(decoded).toMatchObject({ domain: theirs.domain });
      }),
      { numRuns: 1_000 },
    );
  });

  it('are a health request or malformed', () => {
    fc.assert(
      fc.property(bytes, (octets) => {
        const decoded = decodeHealthRequest(octets, 0, octets.length);
        expect(typeof decoded === 'string' || isMalformed(decoded)).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  it('of megabytes that are all the same are malformed', () => {
    const decode = createRequestDecoder(UNBOUNDED);
    for (const octet of [0x00, 0x0a, 0x12, 0x33, 0x80, 0xff])
      expect(isMalformed(decode(new Uint8Array(4_194_304).fill(octet), 0, 4_194_304))).toBe(true);
  });
});
