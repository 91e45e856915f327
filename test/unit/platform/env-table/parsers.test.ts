import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { parse } from 'yaml';
import { credentials } from '../../../../src/platform/credentials-source';
import {
  address,
  host,
  listenAddress,
  listenPort,
  remotePort,
} from '../../../../src/platform/env-table/addresses';
import * as parsers from '../../../../src/platform/env-table/parsers';
import { readTable } from '../../../support/text-table';

const { duration, oneOf, oneOfInAnyCase, pairs, parseDuration, wholeNumber, word } = parsers;

const PARSERS: Readonly<Record<string, { parse(text: string): unknown }>> = {
  duration: { parse: parseDuration },
  'duration from 1ms to 1h': duration({ min: '1ms', max: '1h' }),
  'duration of at least 0': duration(),
  'whole number': wholeNumber(-Number.MAX_SAFE_INTEGER),
  'whole number from 1 to 3': wholeNumber(1, 3),
  'number from 0 to 1': parsers.decimalNumber(0, 1),
  boolean: parsers.boolean,
  'true or false': parsers.trueOrFalse,
  'one of http and grpc': oneOf('http', 'grpc'),
  'one of tcp and udp in any case': oneOfInAnyCase('tcp', 'udp'),
  'warning or warn': parsers.synonyms({ warning: 'warning', warn: 'warning' }),
  credentials,
  text: parsers.text,
  path: parsers.path,
  word,
  'URL path': parsers.urlPath,
  'header name': parsers.headerName,
  names: parsers.listOf(word, 'a name'),
  'pairs with a colon': pairs(':'),
  'pairs with an equals sign': pairs('='),
  address,
  'address to listen on': listenAddress,
  host,
  'port to listen on': listenPort,
  'port to connect to': remotePort,
};

const CASES = readTable(readFileSync(join(__dirname, 'parsers.txt'), 'utf8')).map((row) => {
  const [texts = '', result = ''] = row.title.split(' -> ');
  return {
    name: row.options['parser'] as string,
    texts: [...texts.matchAll(/"(?:[^"\\]|\\.)*"/g)].map(([text]) => JSON.parse(text) as string),
    value: result === 'refused' ? undefined : (parse(result) as unknown),
  };
});

it.each(CASES)('reads a $name: $texts', ({ name, texts, value }) => {
  for (const text of texts) expect([text, PARSERS[name]?.parse(text)]).toEqual([text, value]);
});

it('plays each parser', () => {
  expect(new Set(CASES.map(({ name }) => name))).toEqual(new Set(Object.keys(PARSERS)));
});

describe('a duration', () => {
  const UNIT_NS = { ns: 1, us: 1e3, µs: 1e3, μs: 1e3, ms: 1e6, s: 1e9, m: 60e9, h: 3600e9 };
  const unit = fc.constantFrom(...(Object.keys(UNIT_NS) as (keyof typeof UNIT_NS)[]));
  const component = fc.tuple(fc.integer({ min: 0, max: 9_999 }), unit);
  const components = fc.array(component, { minLength: 1, maxLength: 6 });

  it('adds up its components', () => {
    fc.assert(
      fc.property(components, fc.boolean(), (parts, minus) => {
        const text = parts.map(([count, name]) => `${String(count)}${name}`).join('');
        const sum = parts.reduce((total, [n, name]) => total + BigInt(n * UNIT_NS[name]), 0n);
        const milliseconds = Number(sum) / 1e6;
        expect(parseDuration(minus ? `-${text}` : text)).toBe(
          minus ? 0 - milliseconds : milliseconds,
        );
      }),
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

describe('a whole number', () => {
  it('is refused where JavaScript cannot hold it exactly', () => {
    expect(wholeNumber(0).parse('9'.repeat(400))).toBeUndefined();
  });

  it('reads back in every base', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), fc.constantFrom(2, 8, 10, 16), (number, base) => {
        const prefix = { 2: '0b', 8: '0o', 10: '', 16: '0x' }[base];
        expect(wholeNumber(0).parse(`${prefix}${number.toString(base)}`)).toBe(number);
      }),
    );
  });
});

it('reads back any port of any address', () => {
  fc.assert(
    fc.property(fc.ipV6(), fc.integer({ min: 1, max: 65_535 }), (name, port) => {
      expect(address.parse(`[${name}]:${String(port)}`)).toEqual({ host: name, port });
    }),
  );
});

describe('pairs', () => {
  it('read back whatever was joined', () => {
    const name = fc.stringMatching(/^[A-Za-z_][\w.-]*$/);
    fc.assert(
      fc.property(fc.dictionary(name, fc.stringMatching(/^[\w:.-]*$/), { minKeys: 1 }), (value) => {
        const text = Object.entries(value).map(([key, item]) => `${key}:${item}`);
        expect(Object.entries(pairs(':').parse(text.join(',')) ?? {})).toEqual(
          Object.entries(value),
        );
      }),
    );
  });

  it('hold a name that every object has already', () => {
    const parsed = pairs(':').parse('__proto__:x') ?? {};
    expect(Object.entries(parsed)).toEqual([['__proto__', 'x']]);
  });
});
