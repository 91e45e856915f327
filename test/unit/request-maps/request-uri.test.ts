import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import {
  normalizeHost,
  parseForwardedUri,
  parseOriginalUrl,
  parseRequestUri,
} from '../../../src/request-maps/request-uri';
import { blocksOf } from '../../support/scenario/read-scenarios';

/** How each kind of text in uris.txt is read. */
const READ: Readonly<Record<string, (text: string) => string>> = {
  uri: (text) => {
    const { path, query } = parseRequestUri(text);
    return query === undefined ? path : `${path} ? ${query}`;
  },
  host: normalizeHost,
  original: (text) => {
    const read = parseOriginalUrl(text);
    return read === undefined ? 'nothing' : `${read.path} of ${read.host ?? ''}`;
  },
  caddy: (text) =>
    parseForwardedUri(Buffer.from(text).toString('latin1'), 'caddy')?.path ?? 'nothing',
  exact: (text) => parseForwardedUri(text, 'exact')?.path ?? 'nothing',
};

it.each(blocksOf(readFileSync(join(__dirname, 'uris.txt'), 'utf8')))('%s', (kind, lines) => {
  const wanted = lines.map((line) => line.slice(2));
  const read = wanted.map((line) => {
    const [text = ''] = line.split(' => ');
    return `${text} => ${READ[kind]?.(text) ?? ''}`;
  });
  expect(read).toEqual(wanted);
});

it('reads an absolute URI', () => {
  expect(parseRequestUri('HTTPS://Shop.Example:8443/a/../b?c')).toEqual({
    path: '/b',
    query: 'c',
    scheme: 'https',
    host: 'shop.example',
  });
  expect(parseRequestUri('http://shop?x').path).toBe('/');
});

const segment = fc.stringMatching(/^[a-z0-9_~-][a-z0-9._~-]{0,8}$/);
const segments = fc.array(segment, { minLength: 1, maxLength: 5 });
const codeOf = (letter: string): string => `%${letter.charCodeAt(0).toString(16)}`;

it('finds one path in all ways to write it', () => {
  const noise = fc.constantFrom('', '/', '/.', '/x/..', '/%2e', '/%78/%2E%2e', '/x%2f..');
  fc.assert(
    fc.property(
      segments,
      fc.infiniteStream(noise),
      fc.infiniteStream(fc.boolean()),
      (parts, noises, bits) => {
        const coded = (part: string): string =>
          part.replaceAll(/./g, (letter) => (bits.next().value === true ? codeOf(letter) : letter));
        const written = parts
          .map((part) => `${String(noises.next().value)}/${coded(part)}`)
          .join('');
        expect(parseRequestUri(written).path).toBe(`/${parts.join('/')}`);
      },
    ),
  );
});

it('takes any text, and leaves no dots and no two slashes in a path', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const { path } = parseRequestUri(`/${text}`);
      expect(path).toMatch(/^\//);
      expect(path).not.toMatch(/\/\/|\/\.\.?(\/|$)/);
    }),
  );
});

describe('what ingress-nginx writes', () => {
  it('has the path behind the first slash, whatever byte is in the host', () => {
    for (let byte = 0; byte < 256; byte += 1) {
      const written = String.fromCharCode(byte);
      if (written !== '/')
        expect(parseOriginalUrl(`http://a${written}b/login?c`)).toMatchObject({
          path: '/login',
          query: 'c',
        });
    }
  });
});

describe('a URI that a proxy passes on', () => {
  it('keeps letter case elsewhere', () => {
    expect(parseForwardedUri('/LOGIN/.?A', 'exact')).toMatchObject({ path: '/LOGIN/', query: 'A' });
  });

  it('is one path, whether a byte is written as it is or as a code', () => {
    const whole = Buffer.from('/é').toString('latin1');
    for (const written of [whole, '/%c3%a9', '/\u00c3%A9', '/%C3\u00a9'])
      expect(parseForwardedUri(written, 'exact')?.path).toBe('/é');
  });
});
