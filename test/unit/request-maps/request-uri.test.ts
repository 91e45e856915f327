import fc from 'fast-check';
import {
  normalizeHost,
  parseForwardedUri,
  parseOriginalUrl,
  parseRequestUri,
} from '../../../src/request-maps/request-uri';

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
  ['[2001:db8:0:0::0:1]', '[2001:db8::1]'],
  ['[0::0]', '[::]'],
  ['[no address', '[no address'],
  ['a.example.', 'a.example'],
  ['A.example.:80', 'a.example'],
  ['a.example:junk:80', 'a.example'],
  ['my_svc', 'my_svc'],
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

describe('what ingress-nginx writes', () => {
  it.each([
    ['http://shop.example/login?a=b', '/login', 'shop.example'],
    ['https://x?/login', '/login', 'x?'],
    ['http://x#/login', '/login', 'x#'],
    ['http://a?.shop.example/login', '/login', 'a?.shop.example'],
    ['http://a@b\\c/login', '/login', 'a@b\\c'],
    ['http://my_svc/login', '/login', 'my_svc'],
    ['http://A.Example.:80/login', '/login', 'a.example'],
    ['http://[::1]:80/login', '/login', '[::1]'],
    ['http:///login', '/login', ''],
    ['http://h//x/../%6cogin#/y', '/login', 'h'],
    ['http://h/a?b=http://c/d', '/a', 'h'],
  ])('of %s is the path %s of the host %s', (url, path, host) => {
    expect(parseOriginalUrl(url)).toMatchObject({ path, host });
  });

  it.each(['http://shop.example', 'http://x?a', '/login', 'shop.example/login', ''])(
    'of %s is nothing',
    (url) => {
      expect(parseOriginalUrl(url)).toBeUndefined();
    },
  );

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
  it.each([
    ['/LOGIN', '/login'],
    ['/Login/.', '/login'],
    ['/login/x/..', '/login'],
    ['/login/', '/login/'],
    ['//x/..//%4cogin', '/login'],
    ['/\u212a', '/k'],
    ['/\u0130/\u03a3', '/i/\u03c3'],
    ['/', '/'],
    ['/.', '/'],
    ['?a', '/'],
    ['*', '*'],
  ])('of Caddy, %s, is %s', (text, path) => {
    const bytes = Buffer.from(text).toString('latin1');
    expect(parseForwardedUri(bytes, 'caddy')?.path).toBe(path);
  });

  it('keeps letter case elsewhere', () => {
    expect(parseForwardedUri('/LOGIN/.?A', 'exact')).toMatchObject({ path: '/LOGIN/', query: 'A' });
  });

  it.each(['login', 'a:b/login', 'http://h/login', '', '*/'])('is not %j', (text) => {
    expect(parseForwardedUri(text, 'exact')).toBeUndefined();
  });

  it('is one path, whether a byte is written as it is or as a code', () => {
    const whole = Buffer.from('/é').toString('latin1');
    for (const written of [whole, '/%c3%a9', '/\u00c3%A9', '/%C3\u00a9'])
      expect(parseForwardedUri(written, 'exact')?.path).toBe('/é');
  });
});
