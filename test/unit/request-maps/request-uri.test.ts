import fc from 'fast-check';
import { normalizeHost, parseRequestUri } from '../../../src/request-maps/request-uri';

it.each([
  ['/login', '/login', undefined],
  ['/login?next=/a?b', '/login', 'next=/a?b'],
  ['/login?', '/login', ''],
  ['/login#top?x', '/login', undefined],
  ['/%6cogin', '/login', undefined],
  ['/x/../login', '/login', undefined],
  ['/x/%2e%2E/login', '/login', undefined],
  ['/x%2f..%2flogin', '/login', undefined],
  ['//login', '/login', undefined],
  ['/./login/.', '/login/', undefined],
  ['/a/..', '/', undefined],
  ['/../..', '/', undefined],
  ['/a/', '/a/', undefined],
  ['/.well-known/x', '/.well-known/x', undefined],
  ['/%zz%4/%ff', '/%zz%4/\ufffd', undefined],
  ['*', '*', undefined],
  ['', '/', undefined],
  ['?a', '/', 'a'],
])('reads %j', (text, path, query) => {
  expect(parseRequestUri(text)).toEqual({ path, query, scheme: undefined, host: undefined });
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

it.each([
  ['Shop.Example', 'shop.example'],
  ['shop.example:80', 'shop.example'],
  ['[2001:DB8::1]:80', '[2001:db8::1]'],
])('knows the host %s as %s', (written, host) => {
  expect(normalizeHost(written)).toBe(host);
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
