import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import type { DecisionRequest } from '../../../../../src/core/model';
import { UNIT_NUMBERS } from '../../../../../src/core/units';
import type { MessageTypeDefinition } from '@grpc/proto-loader';
import { RATE_LIMIT_PROTO, loadProtos } from '../../../../../src/platform/proto-files';
import { parseRequest as parseBounded } from '../../../../../src/transport/http/json-request';
import { createRequestDecoder } from '../../../../../src/wire/ratelimit/decode-request';
import { UNBOUNDED } from '../../../../support/bounds';
import { repeated } from '../../../../support/repeated';
import { blocksOf } from '../../../../support/scenario/read-scenarios';

const parseRequest = (text: string) => parseBounded(text, UNBOUNDED);

const BOUNDS = { maxDescriptors: 3, maxEntries: 2, maxNameBytes: 10, maxValueBytes: 20 };

/** A line of requests.txt with what its text is read as in place of what it expects. */
function readLine(line: string, isBounded: boolean): string {
  const [text = '', expected = ''] = line.split(/ => (.*)$/s);
  const parsed = parseBounded(repeated(text).replaceAll('⏎', '\n'), isBounded ? BOUNDS : UNBOUNDED);
  if (!('kind' in parsed)) return `${text} => ${readAs(parsed, expected)}`;
  if (parsed.kind === expected) return line;
  const place = 'line' in parsed ? ` at ${String(parsed.line)}:${String(parsed.column)}` : '';
  return `${text} => ${parsed.kind} ${parsed.where}: ${parsed.message}${place}`;
}

/** All of a request, or its `hits` or `limit` of the first descriptor, or that it `passes`. */
function readAs(request: DecisionRequest, expected: string): string {
  const [descriptor] = request.descriptors;
  const { hits } = descriptor ?? {};
  if (expected === 'passes') return expected;
  if (expected.startsWith('hits'))
    return `hits ${String(hits)}${typeof hits === 'bigint' ? 'n' : ''}`;
  return expected.startsWith('limit')
    ? `limit ${JSON.stringify(descriptor?.limit)}`
    : JSON.stringify(request);
}

const CASES = blocksOf(readFileSync(join(__dirname, 'requests.txt'), 'utf8'));

it.each(CASES)('%s', (title, lines) => {
  const wanted = lines.map((line) => line.slice(2));
  expect(wanted.map((line) => readLine(line, title.startsWith('case bounds')))).toEqual(wanted);
});

describe('a request in proto3 JSON', () => {
  it('cuts what a caller wrote out of its message', () => {
    const parsed = parseRequest(`{"${'x'.repeat(100_000)}":1}`);
    expect('message' in parsed && parsed.message.length).toBeLessThan(300);
  });

  it('reads 10,000 descriptors', () => {
    const text = Array(10_000).fill('{"entries":[{"key":"k","value":"v"}]}').join(',');
    expect(parseRequest(`{"descriptors":[${text}]}`)).toHaveProperty('descriptors.length', 10_000);
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
