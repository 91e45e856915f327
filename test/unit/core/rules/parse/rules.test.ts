import quirks from '../../../../parity/vectors/quirks.json';
import { rulesOf, parseText } from '../../../../support/rule-texts';

const metadataOf = (text: string) =>
  rulesOf(
    `domain: x\ndescriptors:\n  - key: k\n    rate_limit: {unlimited: true}\n    metadata: ${text}`,
  )[0]?.metadata;

describe('a checked rule', () => {
  it('has every field of its entry', () => {
    const text = `domain: x
descriptors:
  - key: k
    value: "v*"
    shadow_mode: true
    quota_mode: off
    detailed_metric: on
    value_to_metric: yes
    share_threshold: TRUE
    metadata: {owner: me}
    rate_limit: {unit: Week, requests_per_unit: 4294967295, name: n, replaces: [{name: m}, {name: o}]}
    descriptors:
      - key: inner
  - key: free
    rate_limit: {unlimited: true, requests_per_unit: 3}
`;
    const absent = { value: undefined, limit: undefined, metadata: undefined };
    const off = { shadowMode: false, quotaMode: false, detailedMetric: false };
    const none = { ...absent, ...off, valueToMetric: false, shareThreshold: false };
    expect(rulesOf(text).map((rule) => ({ ...rule, place: undefined }))).toEqual([
      {
        parent: -1,
        key: 'k',
        value: 'v*',
        limit: {
          unit: 'WEEK',
          requestsPerUnit: 4294967295,
          unlimited: false,
          name: 'n',
          replaces: ['m', 'o'],
        },
        shadowMode: true,
        quotaMode: false,
        detailedMetric: true,
        valueToMetric: true,
        shareThreshold: true,
        metadata: { owner: 'me' },
      },
      { ...none, parent: 0, key: 'inner' },
      {
        ...none,
        parent: -1,
        key: 'free',
        limit: { unit: undefined, requestsPerUnit: 3, unlimited: true, name: '', replaces: [] },
      },
    ]);
    expect(rulesOf(text).map(({ place }) => place)).toEqual([
      { file: 'rules.yaml', at: { line: 3, column: 5 }, limitAt: { line: 11, column: 17 } },
      { file: 'rules.yaml', at: { line: 13, column: 9 }, limitAt: undefined },
      { file: 'rules.yaml', at: { line: 14, column: 5 }, limitAt: { line: 15, column: 17 } },
    ]);
  });

  it('comes after its parent, in the order of the file', () => {
    const text = `domain: x
descriptors:
  - key: a
    descriptors:
      - key: b
        descriptors: [{key: c}]
      - key: d
  - key: e
`;
    const parents = rulesOf(text).map(({ key, parent }) => [key, parent]);
    expect(parents).toEqual([
      ['a', -1],
      ['b', 0],
      ['c', 1],
      ['d', 0],
      ['e', -1],
    ]);
  });

  it.each(['second', 'MINUTE', 'Hour', 'day', 'week', 'month', 'yEAR'])(
    'knows the unit %s',
    (unit) => {
      const text = `{domain: x, descriptors: [{key: k, rate_limit: {unit: ${unit}, requests_per_unit: 0}}]}`;
      expect(rulesOf(text)[0]?.limit?.unit).toBe(unit.toUpperCase());
    },
  );

  it.each([
    ['yes', 'yes'],
    ['010', '010'],
    ['0x1F', '0x1F'],
    ['1_000', '1_000'],
    ['12345678901234567890123', '12345678901234567890123'],
    ['true', 'true'],
    ['2024-01-01', '2024-01-01'],
    ['1:30', '1:30'],
    ['10.0.0.1', '10.0.0.1'],
    ['"1.5"', '1.5'],
    ['"~"', '~'],
    ['!!str 1.5', '1.5'],
    ['a b\n      c', 'a b c'],
    ['|\n      a\n      b', 'a\nb\n'],
    ['"\\0\\n\\u00e9"', '\0\né'],
    ['~', undefined],
    ['null', undefined],
    ['', undefined],
    ['""', undefined],
  ])('the value %j means %j', (written, value) => {
    expect(rulesOf(`domain: x\ndescriptors:\n  - key: k\n    value: ${written}\n`)[0]?.value).toBe(
      value,
    );
  });

  it('keeps unquoted words and numbers as its key and its names', () => {
    const text = `domain: 007
descriptors:
  - key: on
    rate_limit: {unlimited: yes, name: 1, replaces: [{name: 01}]}
  - key: 0
    rate_limit: {unlimited: yes, name: 01}
`;
    const { domains, problems } = parseText(text);
    expect(problems).toEqual([]);
    expect(domains[0]?.domain).toBe('007');
    expect(domains[0]?.rules.map(({ key, limit }) => [key, limit?.name, limit?.replaces])).toEqual([
      ['on', '1', ['01']],
      ['0', '01', []],
    ]);
  });

  it('reads the recorded words and numbers of YAML 1.1', () => {
    const vector = quirks.find(({ name }) => name === 'YAML 1.1 words and numbers');
    const rules = rulesOf(vector?.rules['rules.yaml'] ?? '');
    expect(
      rules.map(({ key, value, shadowMode, limit }) => [
        key,
        value,
        shadowMode,
        limit?.requestsPerUnit,
      ]),
    ).toEqual([
      ['a', undefined, true, 0],
      ['b', 'yes', false, 8],
      ['c', '0x1F', false, 31],
      ['d', '1_000', false, 1000],
      ['e', undefined, false, 5],
    ]);
  });

  it('has the value of the last of equal keys', () => {
    const text = 'domain: x\ndescriptors:\n  - key: a\n    key: b\n    value: c\n    value: ~';
    const { domains } = parseText(text);
    expect(domains[0]?.rules.map(({ key, value }) => [key, value])).toEqual([['b', undefined]]);
  });
});

describe('metadata', () => {
  it.each([
    [
      '{a: 1, b: 0.5, c: yes, d: ~, e: text, f: [x, 1, {g: no}], h: {}}',
      { a: 1, b: 0.5, c: true, d: null, e: 'text', f: ['x', 1, { g: false }], h: {} },
    ],
    ['{1: 2, yes: no, ~: 3, 1.5: 4, "": 5}', { '1': 2, yes: false, '~': 3, '1.5': 4, '': 5 }],
    [
      '{a: .nan, b: -.inf, c: 2024-01-01, d: 1:30, e: 08}',
      { a: '.nan', b: '-.inf', c: '2024-01-01', d: '1:30', e: '08' },
    ],
    ['{a: "1", b: 010, c: 0x10, d: -1}', { a: '1', b: 8, c: 16, d: -1 }],
    ['{a: 1, a: 2}', { a: 2 }],
    [
      '{yes: 1, m: {yes: 1, off: 2, 010: 3, 1.50: 4, "yes": 5, ~: 6}}',
      { yes: 1, m: { true: 1, false: 2, '8': 3, '1.5': 4, yes: 5, null: 6 } },
    ],
    ['~', undefined],
    ['{}', {}],
  ])('%s is plain JSON', (written, expected) => {
    expect(metadataOf(written)).toEqual(expected);
  });

  it('may hold a member named __proto__', () => {
    const metadata = metadataOf('{__proto__: {polluted: true}}');
    expect(Object.keys(metadata ?? {})).toEqual(['__proto__']);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it('may not have a list as a key', () => {
    const { problems } = parseText(
      'domain: x\ndescriptors: [{key: k, rate_limit: {unlimited: yes}, metadata: {[a]: 1}}]',
    );
    expect(problems.map(({ class: name }) => name)).toEqual(['non-string-key']);
  });
});
