import { createRequestDecoder, isMalformed } from '../../../../src/wire/ratelimit/decode-request';
import { requestType } from './schema';

const decode = createRequestDecoder({
  maxDescriptors: 3,
  maxEntries: 2,
  maxNameBytes: 10,
  maxValueBytes: 20,
});

function outcome(bytes: Uint8Array): string {
  const decoded = decode(bytes, 0, bytes.length);
  return isMalformed(decoded) ? `${decoded.kind}: ${decoded.reason}` : 'decoded';
}

const encode = (request: object) => requestType.encode(requestType.fromObject(request)).finish();
const withEntries = (...entries: object[]) => ({ descriptors: [{ entries }] });

describe('the bounds of a request', () => {
  it.each<[string, object, object, string]>([
    [
      'descriptors',
      { descriptors: [{}, {}, {}] },
      { descriptors: [{}, {}, {}, {}] },
      'the request has more descriptors than MAX_DESCRIPTORS (3)',
    ],
    [
      'entries',
      withEntries({}, {}),
      withEntries({}, {}, {}),
      'a descriptor has more entries than MAX_DESCRIPTOR_ENTRIES (2)',
    ],
    [
      'bytes of the domain',
      { domain: 'é'.repeat(5) },
      { domain: 'é'.repeat(5) + 'x' },
      'the domain has 11 bytes, more than MAX_NAME_BYTES (10)',
    ],
    [
      'bytes of a key',
      withEntries({ key: 'k'.repeat(10) }),
      withEntries({ key: 'k'.repeat(11) }),
      'a key has 11 bytes, more than MAX_NAME_BYTES (10)',
    ],
    [
      'bytes of a value',
      withEntries({ value: 'v'.repeat(20) }),
      withEntries({ value: 'v'.repeat(300) }),
      'a value has 300 bytes, more than MAX_VALUE_BYTES (20)',
    ],
  ])('let as many %s pass and refuse one more', (_, most, more, reason) => {
    expect(outcome(encode(most))).toBe('decoded');
    expect(outcome(encode(more))).toBe(`too_much: ${reason}`);
  });

  it('do not see what comes behind them', () => {
    const many = encode({ descriptors: [{}, {}, {}, {}] });
    expect(outcome(Buffer.concat([many, Buffer.from([0xff, 0xff])]))).toMatch(/^too_much: /);
  });

  it('do not hide bytes that are no message before them', () => {
    expect(outcome(Buffer.from([0x0a, 0x7f]))).toMatch(/^malformed: /);
    const broken = Buffer.concat([encode({ descriptors: [{}, {}, {}] }), Buffer.from([0x12, 9])]);
    expect(outcome(broken)).toMatch(/^malformed: /);
  });

  it('hold for each request anew', () => {
    expect(outcome(encode({ descriptors: [{}, {}, {}, {}] }))).toMatch(/^too_much: /);
    expect(outcome(Buffer.from([0x18]))).toBe('malformed: a varint is cut off');
    expect(outcome(encode({ domain: 'd' }))).toBe('decoded');
  });

  it('end the reading at once: a message of 2,000,000 descriptors costs no memory', () => {
    const huge = Buffer.alloc(4_000_000);
    for (let at = 0; at < huge.length; at += 2) huge[at] = 0x12;
    decode(huge, 0, huge.length);
    const before = process.memoryUsage().heapUsed;
    for (let i = 0; i < 100; i++) outcome(huge);
    // Each decoded in full would be some 100 MB.
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(10_000_000);
  });
});
