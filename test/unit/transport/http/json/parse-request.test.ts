import * as fc from 'fast-check';
import { UNIT_NUMBERS } from '../../../../../src/core/units';
import type { MessageTypeDefinition } from '@grpc/proto-loader';
import { RATE_LIMIT_PROTO, loadProtos } from '../../../../../src/platform/proto-files';
import { parseRequest as parseBounded } from '../../../../../src/transport/http/json-request';
import { createRequestDecoder } from '../../../../../src/wire/ratelimit/decode-request';
import { UNBOUNDED } from '../../../../support/bounds';

const parseRequest = (text: string) => parseBounded(text, UNBOUNDED);

const BOUNDS = { maxDescriptors: 3, maxEntries: 2, maxNameBytes: 10, maxValueBytes: 20 };
const DESCRIPTOR = { entries: [], limit: undefined, hits: undefined, isNegativeHits: false };
const withDescriptor = (text: string) => `{"descriptors":[${text}]}`;

function descriptorOf(text: string) {
  const parsed = parseRequest(withDescriptor(text));
  return 'kind' in parsed ? parsed : parsed.descriptors[0];
}

describe('a request in proto3 JSON', () => {
  it('may leave out everything', () => {
    expect(parseRequest(' \n\t\r{ } ')).toEqual({ domain: '', descriptors: [], hitsAddend: 0 });
  });

  it('may say null for every default', () => {
    const text =
      '{"domain":null,"hitsAddend":null,"descriptors":[{"entries":null,"limit":null,"hitsAddend":null,"isNegativeHits":null},' +
      '{"entries":[{"key":null,"value":null}],"limit":{"unit":null,"requestsPerUnit":null}}]}';
    expect(parseRequest(text)).toEqual({
      domain: '',
      hitsAddend: 0,
      descriptors: [
        DESCRIPTOR,
        {
          ...DESCRIPTOR,
          entries: [{ key: '', value: '' }],
          limit: { requestsPerUnit: 0, unit: 0 },
        },
      ],
    });
  });

  it.each(['hits_addend', 'hitsAddend'])('takes the field name %s', (name) => {
    expect(parseRequest(`{"${name}":3}`)).toMatchObject({ hitsAddend: 3 });
    expect(descriptorOf(`{"${name}":"3"}`)).toMatchObject({ hits: 3 });
  });

  it.each([
    ['{"limit":{"requests_per_unit":2,"unit":"DAY"}}', { requestsPerUnit: 2, unit: 4 }],
    ['{"limit":{"requestsPerUnit":"2","unit":4}}', { requestsPerUnit: 2, unit: 4 }],
    ['{"limit":{"unit":7}}', { requestsPerUnit: 0, unit: 7 }],
    ['{"limit":{"unit":"WEEK"}}', { requestsPerUnit: 0, unit: 7 }],
    ['{"limit":{"unit":"UNKNOWN"}}', { requestsPerUnit: 0, unit: 0 }],
    ['{"limit":{"unit":-4711}}', { requestsPerUnit: 0, unit: -4711 }],
    ['{"limit":{"unit":4e0}}', { requestsPerUnit: 0, unit: 4 }],
  ])('reads the limit of %s', (text, limit) => {
    expect(descriptorOf(text)).toEqual({ ...DESCRIPTOR, limit });
  });

  it.each<[string, number | bigint]>([
    ['0', 0],
    ['-0', 0],
    ['"0"', 0],
    ['7.0', 7],
    ['0.7e1', 7],
    ['70E-1', 7],
    ['1e2', 100],
    ['9007199254740991', 9_007_199_254_740_991],
    ['9007199254740992', 9_007_199_254_740_992n],
    ['"18446744073709551615"', 18_446_744_073_709_551_615n],
    ['"9007199254740993"', 9_007_199_254_740_993n],
  ])('reads %s as hits of a descriptor', (written, hits) => {
    expect(descriptorOf(`{"hitsAddend":${written}}`)).toEqual({ ...DESCRIPTOR, hits });
  });

  it.each([
    '-1',
    '1.5',
    '"abc"',
    '""',
    '" 1"',
    '"1 "',
    '"0x1"',
    '18446744073709551616',
    '1e999999999',
    '1e30',
    'true',
    '{}',
    '[1]',
    '"NaN"',
    '01',
    '+1',
    '.5',
    '1.',
    '--1',
    '- 1',
    'NaN',
    'Infinity',
  ])('refuses %s as hits of a descriptor', (written) => {
    expect(descriptorOf(`{"hitsAddend":${written}}`)).toMatchObject({ kind: 'malformed' });
  });

  it.each(['-1', '4294967296', '1.5', '"abc"'])('refuses %s as hits of the request', (written) => {
    expect(parseRequest(`{"hitsAddend":${written}}`)).toMatchObject({
      kind: 'malformed',
      where: 'hitsAddend',
      message: `hitsAddend is ${written}, expected a whole number from 0 to 4294967295`,
    });
  });

  it.each<[string, string, string]>([
    ['', 'body is empty, expected a RateLimitRequest as a JSON object', 'body'],
    ['[]', 'body is a list, expected an object', 'body'],
    ['"j"', 'body is a string, expected an object', 'body'],
    ['null', 'body is null, expected an object', 'body'],
    ['{"domain":1}', 'domain is a number, expected a string', 'domain'],
    ['{"domain":true}', 'domain is a boolean, expected a string', 'domain'],
    ['{"domain":"\\ud83d"}', 'domain holds half of a surrogate pair', 'domain'],
    [
      '{"nope":1}',
      'body has no field "nope", expected one of domain, descriptors, hitsAddend',
      'body',
    ],
    [
      '{"__proto__":{}}',
      'body has no field "__proto__", expected one of domain, descriptors, hitsAddend',
      'body',
    ],
    ['{"hitsAddend":1,"hits_addend":1}', 'body has the field hits_addend twice', 'body'],
    ['{"descriptors":{}}', 'descriptors is an object, expected a list', 'descriptors'],
    ['{"descriptors":[null]}', 'descriptors[0] is null, expected an object', 'descriptors[0]'],
    [
      '{"descriptors":[{"isNegativeHits":1}]}',
      'descriptors[0].isNegativeHits is a number, expected true or false',
      'descriptors[0].isNegativeHits',
    ],
    [
      '{"descriptors":[{},{"entries":[{"key":1}]}]}',
      'descriptors[1].entries[0].key is a number, expected a string',
      'descriptors[1].entries[0].key',
    ],
    [
      '{"descriptors":[{"limit":{"unit":"4"}}]}',
      'descriptors[0].limit.unit is "4", expected one of UNKNOWN, SECOND, MINUTE, HOUR, DAY, MONTH, YEAR, WEEK, or its number',
      'descriptors[0].limit.unit',
    ],
  ])('refuses %j and says which field', (text, message, where) => {
    expect(parseRequest(text)).toEqual({ kind: 'malformed', message, where });
  });

  it.each<[string, number, number]>([
    ['{"domain":', 1, 11],
    ['{"domain":"a}', 1, 14],
    ['{"domain":"a\n"}', 1, 13],
    ['{"domain":"\\x"}', 1, 13],
    ['{"domain":"a"', 1, 14],
    ['{domain:"a"}', 1, 2],
    ['{} {}', 1, 4],
    ['{\n  "domain": "d",\n  x\n}', 3, 3],
  ])('refuses %j and says where it is not JSON', (text, line, column) => {
    const message = `body is not JSON: line ${String(line)}, column ${String(column)}`;
    const malformed = { kind: 'malformed', message, where: 'body', line, column };
    expect(parseRequest(text)).toEqual(malformed);
  });

  it('refuses a text whose first character is not JSON', () => {
    const malformed = { kind: 'malformed', message: 'body is not JSON', where: 'body' };
    expect(parseRequest('nope')).toEqual(malformed);
  });

  it('cuts what a caller wrote out of its message', () => {
    const parsed = parseRequest(`{"${'x'.repeat(100_000)}":1}`);
    expect('message' in parsed && parsed.message.length).toBeLessThan(300);
  });

  it('reads 10,000 descriptors', () => {
    const text = Array(10_000).fill('{"entries":[{"key":"k","value":"v"}]}').join(',');
    expect(parseRequest(withDescriptor(text))).toHaveProperty('descriptors.length', 10_000);
  });

  it('does not go deeper than the message', () => {
    const deep = '['.repeat(500_000);
    expect(parseBounded(`{"descriptors":${deep}`, BOUNDS)).toMatchObject({
      kind: 'too_much',
      message:
        'body has more objects and lists than MAX_DESCRIPTORS (3) and MAX_DESCRIPTOR_ENTRIES (2) allow',
    });
    expect(parseRequest(`{"descriptors":${deep}`)).toMatchObject({ kind: 'malformed' });
  });

  it('resolves every escape', () => {
    const text = '{"domain":"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud83d\\ude42\\u0000 é🙂"}';
    expect(parseRequest(text)).toMatchObject({ domain: '"\\/\b\f\n\r\té🙂\0 é🙂' });
  });

  it('never throws, whatever the text', () => {
    const shards = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ':',
      ',',
      '"',
      '\\',
      '\\u',
      'null',
      '1e',
      '-',
      '"domain"',
      '"descriptors"',
      '"entries"',
      '"limit"',
      '\n',
      'é',
      '\ud800',
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary' }),
          fc.array(shards).map((all) => all.join('')),
        ),
        (text) => {
          const parsed = parseRequest(text);
          expect('kind' in parsed ? parsed.message.startsWith(parsed.where) : true).toBe(true);
        },
      ),
    );
  });
});

describe('the bounds of a request in JSON', () => {
  const entries = (text: string) => withDescriptor(`{"entries":[${text}]}`);

  it.each<[string, string, string, string, string]>([
    [
      'descriptors',
      withDescriptor('{},{},{}'),
      withDescriptor('{},{},{},{}'),
      'descriptors',
      'has more items than MAX_DESCRIPTORS (3)',
    ],
    [
      'entries',
      entries('{},{}'),
      entries('{},{},{}'),
      'descriptors[0].entries',
      'has more items than MAX_DESCRIPTOR_ENTRIES (2)',
    ],
    [
      'bytes of the domain',
      `{"domain":"${'é'.repeat(5)}"}`,
      `{"domain":"${'é'.repeat(5)}x"}`,
      'domain',
      'has 11 bytes, more than MAX_NAME_BYTES (10)',
    ],
    [
      'bytes of a key with escapes',
      entries('{"key":"\\u00e9\\u00e9\\u00e9\\u00e9\\u00e9"}'),
      entries('{"key":"\\u00e9\\u00e9\\u00e9\\u00e9\\u00e9x"}'),
      'descriptors[0].entries[0].key',
      'has 11 bytes, more than MAX_NAME_BYTES (10)',
    ],
    [
      'bytes of a value',
      entries(`{"value":"${'v'.repeat(20)}"}`),
      entries(`{"value":"${'v'.repeat(300)}"}`),
      'descriptors[0].entries[0].value',
      'has 300 bytes, more than MAX_VALUE_BYTES (20)',
    ],
  ])('let as many %s pass and refuse one more', (_, most, more, where, reason) => {
    expect(parseBounded(most, BOUNDS)).not.toHaveProperty('kind');
    const message = `${where} ${reason}`;
    expect(parseBounded(more, BOUNDS)).toEqual({ kind: 'too_much', message, where });
  });

  it('count no brace inside of a text', () => {
    const bounds = { ...BOUNDS, maxValueBytes: 1_000 };
    const text = entries(`{"key":"k","value":"${'{[\\\\\\"'.repeat(100)}"}`);
    expect(parseBounded(text, bounds)).not.toHaveProperty('kind');
  });
});

describe('compared with the protobuf library', () => {
  const message = loadProtos([RATE_LIMIT_PROTO])[
    'envoy.service.ratelimit.v3.RateLimitRequest'
  ] as MessageTypeDefinition<object, object>;
  const decode = createRequestDecoder(UNBOUNDED);

  const text = fc.string({ unit: 'grapheme' });
  const uint32 = fc.integer({ min: 0, max: 4_294_967_295 });
  const descriptor = fc.record(
    {
      entries: fc.array(fc.record({ key: text, value: text }, { requiredKeys: [] })),
      limit: fc.record(
        { requestsPerUnit: uint32, unit: fc.constantFrom(...Object.values(UNIT_NUMBERS), 0, 99) },
        { requiredKeys: [] },
      ),
      hitsAddend: fc.bigInt({ min: 0n, max: 18_446_744_073_709_551_615n }).map(String),
      isNegativeHits: fc.boolean(),
    },
    { requiredKeys: [] },
  );
  const request = fc.record(
    { domain: text, descriptors: fc.array(descriptor), hitsAddend: uint32 },
    { requiredKeys: [] },
  );

  it('reads the same out of JSON as the binary decoder reads out of its encoding', () => {
    fc.assert(
      fc.property(request, fc.nat({ max: 2 }), (value, indent) => {
        // The library takes a UInt64Value as the message that it is, JSON as a bare number.
        const wrapped = {
          ...value,
          descriptors: value.descriptors?.map(({ hitsAddend, ...rest }) => ({
            ...rest,
            ...(hitsAddend !== undefined && { hitsAddend: { value: hitsAddend } }),
          })),
        };
        const bytes = message.serialize(wrapped);
        expect(parseRequest(JSON.stringify(value, null, indent))).toEqual(
          decode(bytes, 0, bytes.length),
        );
      }),
    );
  });
});
