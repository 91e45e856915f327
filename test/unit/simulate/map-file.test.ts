import { readFileSync } from 'node:fs';
import { applyMap, ANY_NAMES, parseMapFile } from '../../../src/simulate/log-reader';
import { COMBINED_NAMES, readCombinedLine, parseObject } from '../../../src/simulate/log-formats';

const parse = (text: string) => parseMapFile('map.yaml', text, ANY_NAMES);
const example = (name: string) => parse(readFileSync(`examples/simulate/${name}.map.yaml`, 'utf8'));

const MAP = (descriptors: string) => `
domain: d
time: { field: t, format: unix }
descriptors: ${descriptors}`;

const toPairs = (record: ReturnType<typeof applyMap>) =>
  record?.request.descriptors.map(({ entries }) => entries.map(({ key, value }) => [key, value]));

describe('the maps that are shipped', () => {
  it("read Envoy's JSON access log", () => {
    const line = parseObject(
      JSON.stringify({
        start_time: '2026-11-22T14:00:00.250Z',
        method: 'POST',
        path: '/cart/items?id=1',
        downstream_remote_address: '10.1.2.3:4711',
        user_agent: null,
      }),
    );
    const record = applyMap(example('envoy-json'), line);
    expect(record?.timeSeconds).toBe(1_795_356_000.25);
    expect(toPairs(record)).toEqual([
      [['remote_address', '10.1.2.3']],
      [['masked_remote_address', '10.1.2.0/24']],
      [
        ['generic_key', 'writes'],
        ['path', '/cart'],
      ],
    ]);
  });

  it("read Istio's JSON access log", () => {
    const line = {
      start_time: '2026-11-22T14:00:00.250Z',
      authority: 'shop.example.com',
      x_forwarded_for: '203.0.113.7, 10.0.0.1',
    };
    expect(toPairs(applyMap(example('istio'), line))).toEqual([
      [
        ['authority', 'shop.example.com'],
        ['client', '203.0.113.7'],
      ],
    ]);
    expect(applyMap(example('istio'), { ...line, authority: 'docs.example.com' })).toBeUndefined();
  });

  it("read nginx' combined log", () => {
    const line = readCombinedLine(
      '203.0.113.7 - - [22/Nov/2026:14:00:00 +0000] "POST /login HTTP/1.1" 200 12 "-" "Mozilla/5.0"',
    );
    expect(toPairs(applyMap(example('nginx'), line))).toEqual([
      [['remote_address', '203.0.113.7']],
      [
        ['remote_address', '203.0.113.7'],
        ['path', '/login'],
      ],
    ]);
  });
});

describe('a map file', () => {
  it('drops a descriptor when one of its entries has no value', () => {
    const map = parse(
      MAP(
        '[{entries: [{key: a, value: 1}, {key: b, field: x.y}]}, {entries: [{key: c, header: X-Id}]}]',
      ),
    );
    expect(toPairs(applyMap(map, { t: 1, x: { y: '-' }, 'x-id': 7 }))).toEqual([[['c', '7']]]);
    expect(toPairs(applyMap(map, { t: 1, x: { y: 'z' } }))).toEqual([
      [
        ['a', '1'],
        ['b', 'z'],
      ],
    ]);
  });

  it('finds no field in what an object inherits', () => {
    const map = parse(MAP('[{entries: [{key: a, field: constructor.name}]}]'));
    expect(applyMap(map, { t: 1 })).toBeUndefined();
  });

  it('needs the time of every line', () => {
    const map = parse(MAP('[{entries: [{key: a, value: 1}]}]'));
    expect(() => applyMap(map, {})).toThrow('the time field "t" is missing');
  });

  it('takes cookies, parameters and the fields of requests, under the names of the log', () => {
    const map = parse(
      MAP(`
  - entries: [{ key: session, cookie: sid }]
  - entries: [{ key: q, parameter: user }]
  - entries: [{ key: query, field: query }]
  - entries: [{ key: host, field: host }]
  - entries: [{ key: address, field: remote_address }]`),
    );
    const line = {
      t: 1,
      path: '/find?a=1&user=ann%20b',
      authority: 'shop.example',
      downstream_remote_address: '10.1.2.3:4711',
      http_cookie: 'a=b; sid="s1"; sid=s2',
    };
    expect(toPairs(applyMap(map, line))).toEqual([
      [['session', 's1']],
      [['q', 'ann b']],
      [['query', 'a=1&user=ann%20b']],
      [['host', 'shop.example']],
      [['address', '10.1.2.3']],
    ]);
  });

  it.each([
    ['a: [', 'map.yaml:1:5: not valid YAML: flow sequence'],
    ['[]', 'map.yaml:1:1: expected a map with domain, time and descriptors'],
    [MAP('[]'), 'map.yaml:4:14: descriptors must be a list of maps; it is empty'],
    [MAP('[{entries: [{key: a}]}]'), 'map.yaml:4:32: an entry needs exactly one of value, field'],
    [MAP('[{entries: [{key: a, value: 1, field: b}]}]'), 'an entry needs exactly one of value'],
    [
      MAP('[{entries: [{key: a, field: b, match: "("}]}]'),
      'map.yaml:4:52: match "(" is not a regular expression: ',
    ],
    [
      MAP('[{entrys: []}]'),
      'map.yaml:4:16: unknown key "entrys" in a descriptor: did you mean "entries"? known keys are when, entries',
    ],
    [
      MAP('[{when: {field: a}, entries: [{key: a, value: 1}]}]'),
      'when needs exactly one of equals and matches',
    ],
    [
      MAP('[{entries: [{key: a, masked_address: {field: b, v4: 33}}]}]'),
      'map.yaml:4:66: v4 must be a whole number from 0 to 32, unquoted; found 33',
    ],
    ['{domain: d, time: {field: t, format: iso}}', 'format "iso" is not one of rfc3339'],
  ])('%p is refused', (text, message) => {
    expect(() => parse(text)).toThrow(message);
  });

  it('is refused with all of its mistakes', () => {
    const text = MAP('[{entries: [{key: a, field: b, v: 1}]}, {entries: [{value: 1}]}]');
    expect(() => parse(text)).toThrow(
      /map\.yaml:4:45: unknown key "v" [^\n]*\nmap\.yaml:4:65: key must be a string; it is missing$/,
    );
  });

  it('of the combined format takes nothing that no line of it has', () => {
    const read = (source: string) => () =>
      parseMapFile(
        'm',
        MAP(`[{entries: [{key: a, ${source}}]}]`).replace('field: t,', 'field: time_local,'),
        COMBINED_NAMES,
      );
    expect(read('field: query')).not.toThrow();
    expect(read('field: host')).toThrow('m:4:42: field "host" is not one of remote_addr, ');
    expect(read('cookie: sid')).toThrow(
      'cookie needs the header "cookie": the log has referer and',
    );
  });
});
