import { DEFAULT_BOUNDS } from '../../../src/transport/bounds';
import { problemText } from '../../../src/fields/problem';
import { parseCheck } from '../../../src/request-maps/check';
import { readRuleFile } from '../../../src/rule-sources/yaml/read-rule-file';

const parse = (text: string, bounds = DEFAULT_BOUNDS) =>
  parseCheck(readRuleFile('shop.yaml', text), bounds);
const problems = (text: string, bounds = DEFAULT_BOUNDS) =>
  parse(text, bounds).problems.map(problemText);

const ENTRIES = 'descriptors: [{ entries: [{ key: user, header: X-User }] }]';

it('reads a check', () => {
  const { check, problems: found } = parse(`
domain: shop
proxy: nginx
trusted_proxies: [10.0.0.0/8, 192.0.2.1]
denied_status: 403
on_error: deny
show_rule: true
hits: { header: X-Cost }
descriptors:
  - when: { field: method, equals: POST }
    entries:
      - { key: path, field: path, match: '^(/[^/]*)' }
      - { key: q, parameter: q }
  - entries:
      - { key: net, masked_address: { field: remote_address, v4: 24, v6: 56 } }
`);
  expect(found).toEqual([]);
  expect(check).toMatchObject({
    domain: 'shop',
    proxy: 'nginx',
    deniedStatus: 403,
    onError: 'deny',
    showRule: true,
    hitsHeader: 'x-cost',
    neededHeaders: ['x-original-method', 'x-original-uri', 'x-real-ip'],
    needsHost: false,
  });
  expect(['10.1.2.3', '192.0.2.1', '192.0.2.2'].map((peer) => check?.hops.isTrusted(peer))).toEqual(
    [true, true, false],
  );
});

it('has no proxy and answers 429 unless it says otherwise', () => {
  expect(parse(`domain: shop\n${ENTRIES}`).check).toMatchObject({
    proxy: undefined,
    deniedStatus: 429,
    onError: 'allow',
    showRule: false,
    hitsHeader: undefined,
    neededHeaders: [],
    needsHost: false,
  });
});

it('lists every mistake with its place', () => {
  const text = `domain: ''
proxy: haproxy
trusted_proxies: [10.0.0.0/33]
denied_status: 200
on_error: pass
show_rule: 1
hits: 2
retry: true
descriptors:
  - when: { field: methd, equals: POST }
    entries:
      - { key: path, field: pth, match: '(' }
      - { key: a, value: 1, header: b }
  - entries: []
  - entries: [{ key: b, masked_address: { field: ip, v4: 33, v6: wide } }]
`;
  expect(problems(text)).toEqual([
    expect.stringMatching(/^shop\.yaml:1:9: domain must be a string; found an empty string$/),
    'shop.yaml:2:8: proxy "haproxy" is not one of nginx, ingress-nginx, traefik, caddy',
    'shop.yaml:3:19: trusted_proxies has "10.0.0.0/33", expected an IP address or a network such as 10.0.0.0/8',
    'shop.yaml:4:16: denied_status must be a whole number from 400 to 599, unquoted; found 200',
    'shop.yaml:5:11: on_error "pass" is not one of allow, deny',
    'shop.yaml:6:12: show_rule must be a boolean (true or false, unquoted); found 1',
    'shop.yaml:7:7: hits must be a map; found 2',
    expect.stringMatching(/^shop\.yaml:8:1: unknown key "retry" in a check: /),
    'shop.yaml:10:20: field "methd" is not one of method, path, query, host, scheme, remote_address; did you mean "method"?',
    expect.stringMatching(
      /^shop\.yaml:12:29: field "pth" is not one of .*; did you mean "path"\?$/,
    ),
    expect.stringMatching(/^shop\.yaml:12:41: match "\(" is not a regular expression: /),
    expect.stringMatching(/^shop\.yaml:13:37: an entry needs exactly one of value, field, /),
    'shop.yaml:14:14: entries must be a list of maps; it is empty',
    expect.stringMatching(/^shop\.yaml:15:50: field "ip" is not one of /),
    expect.stringMatching(/^shop\.yaml:15:58: v4 must be a whole number from 0 to 32/),
    expect.stringMatching(/^shop\.yaml:15:66: v6 must be a whole number from 0 to 128/),
  ]);
  expect(parse(text).check).toBeUndefined();
});

it.each([
  ['[]', 'shop.yaml:1:1: expected a map with domain and descriptors'],
  ['', 'shop.yaml:1:1: expected a map with domain and descriptors'],
  [
    `domain: shop\nproxy: caddy\n${ENTRIES}`,
    'shop.yaml:1:1: trusted_proxies must be a list of the addresses or networks of the proxy, such as 10.0.0.0/8',
  ],
  [
    'domain: shop\ndescriptors: [{ entries: [{ key: user, value: a }, { key: reserve, header: x-id }] }]',
    'shop.yaml:2:14: a descriptor ends in reserve: proxies make no second call, so checks cannot reserve',
  ],
  [
    `domain: shop\ntrusted_proxies: [10.0.0.1]\n${ENTRIES}`,
    'shop.yaml:2:18: trusted_proxies needs proxy, one of nginx, ingress-nginx, traefik, caddy',
  ],
])('refuses %j', (text, problem) => {
  expect(problems(text)).toContain(problem);
});

it.each([
  ['maxDescriptors', 'there are more descriptors than MAX_DESCRIPTORS (1)'],
  ['maxEntries', 'a descriptor has more entries than MAX_DESCRIPTOR_ENTRIES (1)'],
  ['maxNameBytes', 'a key has more bytes than MAX_NAME_BYTES (1)'],
] as const)('refuses what no request may hold: %s', (bound, message) => {
  const entry = '{ key: ab, value: a }';
  const text = `domain: shop\ndescriptors: [{ entries: [${entry}, ${entry}] }, { entries: [${entry}] }]`;
  expect(problems(text, { ...DEFAULT_BOUNDS, [bound]: 1 })).toEqual([`shop.yaml:2:14: ${message}`]);
});

it('warns of headers that clients write', () => {
  const { check, problems: found } = parse(
    'domain: shop\ndescriptors: [{ entries: [{ key: ip, header: X-Forwarded-For }] }]',
  );
  expect(check).toBeDefined();
  expect(found.map(({ severity, message }) => [severity, message])).toEqual([
    [
      'warning',
      'clients can write the header "x-forwarded-for": take a field in its place, such as path or remote_address',
    ],
  ]);
});

it('reads conditions and patterns of a path in any letter case behind a proxy that compares so', () => {
  const text = (proxy: string) => `domain: d
proxy: ${proxy}
trusted_proxies: [10.0.0.0/8]
descriptors:
  - when: { field: path, equals: /Login }
    entries: [{ key: k, field: path, match: '^/L' }, { key: m, field: method, match: '^p' }]
  - when: { field: path, matches: ^/LOG }
    entries: [{ key: k, field: host }]
`;
  const heldOf = (proxy: string) => {
    const [first, second] = parse(text(proxy)).check?.descriptors ?? [];
    const [path, method] = first?.entries ?? [];
    const holds = [first, second].map((descriptor) => descriptor?.when?.holds('/login'));
    return [...holds, path?.match?.('/login'), method?.match?.('POST')];
  };
  expect(heldOf('caddy')).toEqual([true, true, '/l', undefined]);
  expect(heldOf('nginx')).toEqual([false, false, undefined, undefined]);
});
