import fc from 'fast-check';
import type { IncomingMessage } from 'node:http';
import { DEFAULT_BOUNDS } from '../../../../../src/transport/bounds';
import { PROXIES, WORDS, type Check, parseCheck } from '../../../../../src/request-maps/check';
import { REQUEST_FIELDS } from '../../../../../src/request-maps/request-map';
import { readRuleFile } from '../../../../../src/rule-sources/yaml/read-rule-file';
import { CallFacts } from '../../../../../src/transport/http/check/call-facts';

const ALL = REQUEST_FIELDS.map((field) => `{ key: ${field}, field: ${field} }`).join(', ');

function checkOf(proxy: string | undefined): Check {
  const trusted = proxy === undefined ? '' : `proxy: ${proxy}\ntrusted_proxies: [10.0.0.0/8]\n`;
  const text = `domain: d\n${trusted}descriptors: [{ entries: [${ALL}] }]`;
  return parseCheck(readRuleFile('f', text), DEFAULT_BOUNDS).check as Check;
}

const call = (remoteAddress: string, headers: Readonly<Record<string, string>>) =>
  ({
    method: 'GET',
    url: '/check?own=1',
    headers: { host: 'weir:8080', ...headers },
    rawHeaders: Object.entries({ host: 'weir:8080', ...headers }).flat(),
    socket: { remoteAddress },
  }) as unknown as IncomingMessage;

const factsOf = (facts: CallFacts) => REQUEST_FIELDS.map((field) => facts.field(field));

/** What each proxy writes for `POST https://Shop.Example/a/../b?c=d` from 203.0.113.7 behind another proxy. */
const WRITTEN: Readonly<Record<(typeof PROXIES)[number], Readonly<Record<string, string>>>> = {
  nginx: {
    host: 'Shop.Example',
    'x-original-uri': '/a/../b?c=d',
    'x-original-method': 'POST',
    'x-real-ip': '203.0.113.7',
  },
  'ingress-nginx': {
    'x-original-url': 'https://Shop.Example/a/../b?c=d',
    'x-original-method': 'POST',
    'x-real-ip': '203.0.113.7',
  },
  traefik: {
    'x-forwarded-method': 'POST',
    'x-forwarded-proto': 'https',
    'x-forwarded-host': 'Shop.Example',
    'x-forwarded-uri': '/a/../b?c=d',
    'x-forwarded-for': '198.51.100.1, 203.0.113.7, 10.9.9.9',
  },
  caddy: {
    'x-forwarded-method': 'POST',
    'x-forwarded-proto': 'https',
    'x-forwarded-host': 'Shop.Example:443',
    'x-forwarded-uri': '/a/../b?c=d',
    'x-forwarded-for': '203.0.113.7',
  },
};

describe.each(PROXIES)('behind %s', (proxy) => {
  const check = checkOf(proxy);
  const scheme = proxy === 'nginx' ? 'http' : 'https';
  const expected = ['POST', '/b', 'c=d', 'shop.example', scheme, '203.0.113.7'];

  it('knows the request by what the proxy writes', () => {
    const facts = new CallFacts(call('::ffff:10.1.1.1', WRITTEN[proxy]), check);
    expect(facts.findAmiss()).toBeUndefined();
    expect(factsOf(facts)).toEqual(expected);
  });

  it('knows the same whatever else a client writes', () => {
    const own = new Set(Object.values(WORDS[proxy]));
    const others = [...new Set(Object.values(WORDS).flatMap((words) => Object.values(words)))];
    const lies = fc.dictionary(
      fc.constantFrom(
        ...others.filter(
          (name): name is string => name !== undefined && !own.has(name) && name !== 'host',
        ),
      ),
      fc.oneof(fc.string(), fc.constant('/'), fc.ipV4()),
    );
    fc.assert(
      fc.property(lies, (written) => {
        const facts = new CallFacts(call('10.1.1.1', { ...written, ...WRITTEN[proxy] }), check);
        expect(factsOf(facts)).toEqual(expected);
      }),
    );
  });

  it('believes nobody else', () => {
    const facts = new CallFacts(call('203.0.113.66', WRITTEN[proxy]), check);
    expect(facts.isTrusted).toBe(false);
    expect(facts.findAmiss()).toBeUndefined();
    const host = proxy === 'nginx' ? 'shop.example' : 'weir';
    expect(factsOf(facts)).toEqual(['GET', '/check', 'own=1', host, 'http', '203.0.113.66']);
  });

  it.each(Object.keys(WRITTEN[proxy]))('names %s where it is missing', (header) => {
    const others = Object.entries(WRITTEN[proxy]).filter(([name]) => name !== header);
    const request = call('10.1.1.1', Object.fromEntries(others));
    if (header === 'host') delete request.headers.host;
    expect(new CallFacts(request, check).findAmiss()).toBe(header);
  });
});

it.each([
  ['nginx', 'x-real-ip', 'unix:'],
  ['nginx', 'x-original-uri', 'b?c=d'],
  ['ingress-nginx', 'x-original-url', '/b?c=d'],
  ['ingress-nginx', 'x-original-url', 'http://shop.example?b'],
  ['traefik', 'x-forwarded-uri', 'a:b/c'],
  ['caddy', 'x-forwarded-uri', 'a:b/c'],
  ['caddy', 'x-forwarded-host', ':80'],
  ['traefik', 'x-forwarded-host', '.'],
] as const)('of %s refuses a %s that is %s', (proxy, header, value) => {
  const request = call('10.1.1.1', { ...WRITTEN[proxy], [header]: value });
  expect(new CallFacts(request, checkOf(proxy)).findAmiss()).toBe(header);
});

it('of ingress-nginx refuses a URL that two requests would have', () => {
  const url = { ...WRITTEN['ingress-nginx'], 'x-original-url': 'http://a?b/login' };
  const factsWith = (uri: string) =>
    new CallFacts(
      call('10.1.1.1', { ...url, 'x-auth-request-redirect': uri }),
      checkOf('ingress-nginx'),
    );
  const facts = factsWith('/login');
  expect([facts.findAmiss(), facts.field('path')]).toEqual([undefined, '/login']);
  expect(factsWith('?b/login').findAmiss()).toBe('x-original-url');
});

it.each(PROXIES)(
  'of %s judges a path that begins with a slash, whatever byte is in the URI',
  (proxy) => {
    const uri =
      proxy === 'ingress-nginx'
        ? 'x-original-url'
        : proxy === 'nginx'
          ? 'x-original-uri'
          : 'x-forwarded-uri';
    const start = proxy === 'ingress-nginx' ? 'http://h' : '';
    for (let byte = 0; byte < 256; byte += 1) {
      const letter = String.fromCharCode(byte);
      for (const path of [`${letter}/login`, `/${letter}login`, `/login${letter}`, letter]) {
        const facts = new CallFacts(
          call('10.1.1.1', { ...WRITTEN[proxy], [uri]: `${start}${path}` }),
          checkOf(proxy),
        );
        if (facts.findAmiss() === undefined) expect(facts.field('path')).toMatch(/^(\/|\*$)/);
        else expect(path).toMatch(/^[^/]/);
      }
    }
  },
);

it('is the call itself where no proxy is named', () => {
  const facts = new CallFacts(call('203.0.113.66', WRITTEN.nginx), checkOf(undefined));
  expect(factsOf(facts)).toEqual([
    ...['GET', '/check', 'own=1', 'shop.example', 'http', '203.0.113.66'],
  ]);
});

it('reads bytes as UTF-8', () => {
  const bytes = Buffer.from('zoë').toString('latin1');
  const facts = new CallFacts(call('1.2.3.4', { 'x-user': bytes }), checkOf(undefined));
  expect(facts.header('x-user')).toBe('zoë');
});

it('knows no header that was not sent, whatever its name', () => {
  const facts = new CallFacts(call('1.2.3.4', {}), checkOf(undefined));
  for (const name of ['x-user', 'constructor', '__proto__', 'tostring', 'valueof'])
    expect([name, facts.header(name)]).toEqual([name, undefined]);
});
