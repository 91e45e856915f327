import * as fc from 'fast-check';
import { UNIT_NUMBERS } from '../../../../../src/core/units';
import type { MessageTypeDefinition } from '@grpc/proto-loader';
import { RATE_LIMIT_PROTO, loadProtos } from '../../../../../src/platform/proto-files';
import { parseRequest as parseBounded } from '../../../../../src/transport/http/json/parse-request';
import { createRequestDecoder } from '../../../../../src/wire/ratelimit/decode-request';
import { UNBOUNDED } from '../../../../support/bounds';

const parseRequest = (text: string) => parseBounded(text, UNBOUNDED);

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
    ['1.8446744073709551615e19', 18_446_744_073_709_551_615n],
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

  it.each<[string, string, string, number]>([
    ['', 'body is empty, expected a RateLimitRequest as a JSON object', 'body', 1],
    ['[]', 'body is a list, expected an object', 'body', 1],
    ['"j"', 'body is a string, expected an object', 'body', 1],
    ['null', 'body is null, expected an object', 'body', 1],
    ['{"domain":', 'domain is at its end, expected a string', 'domain', 11],
    ['{"domain":1}', 'domain is a number, expected a string', 'domain', 11],
    ['{"domain":true}', 'domain is a boolean, expected a string', 'domain', 11],
    ['{"domain":"a}', 'domain is a string that does not end', 'domain', 11],
    ['{"domain":"a\n"}', 'domain holds a control character that is not escaped', 'domain', 13],
    ['{"domain":"\\x"}', 'domain holds an escape that JSON does not know', 'domain', 11],
    ['{"domain":"\\ud83d"}', 'domain holds half of a surrogate pair', 'domain', 11],
    ['{"domain" "a"}', 'body is a string after a name, expected ":"', 'body', 11],
    ['{"domain":"a"', 'body is at its end after a value, expected "," or "}"', 'body', 14],
    ['{"domain":"a",}', 'body is not JSON ("}"), expected the name of a field', 'body', 15],
    ['{domain:"a"}', 'body is not JSON ("d"), expected the name of a field', 'body', 2],
    ['{} {}', 'body goes on after the request: an object', 'body', 4],
    [
      '{"nope":1}',
      'body has no field "nope", expected one of domain, descriptors, hitsAddend',
      'body',
      2,
    ],
    [
      '{"__proto__":{}}',
      'body has no field "__proto__", expected one of domain, descriptors, hitsAddend',
      'body',
      2,
    ],
    ['{"domain":"a","domain":"b"}', 'body has the field domain twice', 'body', 15],
    ['{"hitsAddend":1,"hits_addend":1}', 'body has the field hits_addend twice', 'body', 17],
    ['{"descriptors":{}}', 'descriptors is an object, expected a list', 'descriptors', 16],
    ['{"descriptors":[null]}', 'descriptors[0] is null, expected an object', 'descriptors[0]', 17],
    [
      '{"descriptors":[{}',
      'descriptors is at its end after a value, expected "," or "]"',
      'descriptors',
      19,
    ],
    [
      '{"descriptors":[{"isNegativeHits":1}]}',
      'descriptors[0].isNegativeHits is a number, expected true or false',
      'descriptors[0].isNegativeHits',
      35,
    ],
    [
      '{"descriptors":[{},{"entries":[{"key":1}]}]}',
      'descriptors[1].entries[0].key is a number, expected a string',
      'descriptors[1].entries[0].key',
      39,
    ],
    [
      '{"descriptors":[{"limit":{"unit":"4"}}]}',
      'descriptors[0].limit.unit is "4", expected one of UNKNOWN, SECOND, MINUTE, HOUR, DAY, MONTH, YEAR, WEEK, or its number',
      'descriptors[0].limit.unit',
      34,
    ],
  ])('refuses %j and says where', (text, message, where, column) => {
    expect(parseRequest(text)).toEqual({ kind: 'malformed', message, where, line: 1, column });
  });

  it('counts lines', () => {
    expect(parseRequest('{\n  "domain": "d",\n  "x": 1\n}')).toMatchObject({ line: 3, column: 3 });
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
    expect(parseRequest(`{"descriptors":${deep}`)).toMatchObject({ where: 'descriptors[0]' });
    expect(parseRequest(`{"unknown":${deep}`)).toMatchObject({ where: 'body' });
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
          expect('kind' in parsed ? parsed.line >= 1 && parsed.column >= 1 : true).toBe(true);
        },
      ),
    );
  });
});

describe('the bounds of a request in JSON', () => {
  const BOUNDS = { maxDescriptors: 3, maxEntries: 2, maxNameBytes: 10, maxValueBytes: 20 };
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
    expect(parseBounded(more, BOUNDS)).toMatchObject({ kind: 'too_much', message, where, line: 1 });
  });

  it('do not see what comes behind them', () => {
    const text = `{"descriptors":[{},{},{},${'{"unknown":1},'.repeat(100_000)}`;
    expect(parseBounded(text, BOUNDS)).toMatchObject({ kind: 'too_much', where: 'descriptors' });
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
