import { readFileSync } from 'node:fs';
import { applyMap } from '../../../src/simulate/apply-map';
import { readCombinedLine } from '../../../src/simulate/combined-log';
import { parseMapFile } from '../../../src/simulate/map-file';
import { parseObject } from '../../../src/simulate/request-lines';

const example = (name: string) =>
  parseMapFile(readFileSync(`examples/simulate/${name}.map.yaml`, 'utf8'));

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
    const map = parseMapFile(
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
    const map = parseMapFile(MAP('[{entries: [{key: a, field: constructor.name}]}]'));
    expect(applyMap(map, { t: 1 })).toBeUndefined();
  });

  it('needs the time of every line', () => {
    const map = parseMapFile(MAP('[{entries: [{key: a, value: 1}]}]'));
    expect(() => applyMap(map, {})).toThrow('the time field "t" is missing');
  });

  it.each([
    ['a: [', 'Flow sequence'],
    ['[]', 'the map is [], expected a mapping'],
    [MAP('[]'), 'descriptors is [], expected a list of mappings'],
    [
      MAP('[{entries: [{key: a}]}]'),
      'descriptors[0].entries[0].value is missing, expected exactly one',
    ],
    [MAP('[{entries: [{key: a, value: 1, field: b}]}]'), 'expected exactly one of value, field'],
    [
      MAP('[{entries: [{key: a, field: b, match: "("}]}]'),
      'entries[0].match is "(", expected a regular',
    ],
    [MAP('[{entrys: []}]'), 'descriptors[0] has an unknown key "entrys", expected when, entries'],
    [
      MAP('[{when: {field: a}, entries: [{key: a, value: 1}]}]'),
      'expected one of equals and matches',
    ],
    [
      MAP('[{entries: [{key: a, masked_address: {field: b, v4: 33}}]}]'),
      'masked_address.v4 is 33, expected a whole number from 0 to 32',
    ],
    ['{domain: d, time: {field: t, format: iso}}', 'time.format is "iso", expected one of rfc3339'],
  ])('%p is refused', (text, message) => {
    expect(() => parseMapFile(text)).toThrow(message);
  });
});
