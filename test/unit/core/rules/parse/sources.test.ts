import { compileRules } from '../../../../../src/core/rules/compile';
import { dumpRules } from '../../../../../src/core/rules/dump';
import { parseRuleFiles } from '../../../../../src/core/rules/parse/parse-rule-files';
import { MAX_DEPTH, type Located } from '../../../../../src/fields/located';
import { readRuleFile } from '../../../../../src/rule-sources/yaml/read-rule-file';
import { parseText, parseTexts, rulesOf } from '../../../../support/rule-texts';

const inLimit = (fields: string): string =>
  `domain: x\ndescriptors:\n  - key: k\n    rate_limit: {unit: day, requests_per_unit: 9, ${fields}}\n`;
const messageOf = (text: string) => parseText(text).problems[0]?.message;

it('shows what nobody would see', () => {
  expect(messageOf('\u200bdomain: x')).toContain('"\\u200bdomain" at the top level');
  expect(messageOf('{domain: x, descriptors: a\u00a0b}')).toBe(
    'descriptors must be a list; found the string "a\\u00a0b"',
  );
});

it('knows where each rule and its limit stand', () => {
  const inner = '    descriptors:\n      - key: inner\n        value: v\n';
  expect(rulesOf(inLimit('') + inner).map(({ place }) => place)).toEqual([
    { file: 'rules.yaml', at: { line: 3, column: 5 }, limitAt: { line: 4, column: 17 } },
    { file: 'rules.yaml', at: { line: 6, column: 9 }, limitAt: undefined },
  ]);
});

it.each([
  [['a.yaml', 'b.yaml', 'c.yaml']],
  [['c.yaml', 'b.yaml', 'a.yaml']],
  [['b.yaml', 'c.yaml', 'a.yaml']],
])('refuses the later names of one domain, in whatever order the files come: %j', (names) => {
  const files = Object.fromEntries(names.map((name) => [name, 'domain: x']));
  const taken = expect.stringContaining('already defined in a.yaml, line 1') as string;
  expect(parseTexts(files, false).problems).toMatchObject([
    { file: 'b.yaml', message: taken },
    { file: 'c.yaml', message: taken },
  ]);
});

it('has metadata with a member named __proto__', () => {
  const [rule] = rulesOf(`${inLimit('')}    metadata: {__proto__: {polluted: true}}\n`);
  expect(Object.keys(rule?.metadata ?? {})).toEqual(['__proto__']);
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
});

it.each([
  ['America/Newville', ['America/Newville'], []],
  ['America/Oldtown', ['America/Oldtown'], ['bad-time-zone']],
  ['America', [], ['bad-time-zone']],
  ['../America/Newville', [], ['bad-time-zone']],
  ['America/tz.tab', [], ['bad-time-zone']],
  ['"+01:00"', [], ['bad-time-zone']],
  ['Europe/Berlin', [], []],
])('asks newer data of a zone that the runtime does not know: %s', (zone, expected, mistakes) => {
  const asked: string[] = [];
  const hasZone = (name: string): boolean => {
    asked.push(name);
    return name === 'America/Newville';
  };
  const source = readRuleFile('rules.yaml', inLimit(`calendar: true, time_zone: ${zone}`));
  const { problems } = parseRuleFiles([source], { mergeDomains: false, hasZone });
  expect(problems.map(({ class: name }) => name)).toEqual(mistakes);
  expect(asked).toEqual(expected);
});

it.each([
  ['leased: true', false, true],
  ['', false, false],
  ['', true, true],
  ['leased: false', true, false],
  ['algorithm: gcra', true, false],
  ['charge_denied: false', true, false],
  ['block: {for: 1m}', true, false],
  ['requests_per_unit: 0, block: {for: 1m}', true, false],
])('leases {%s}, where the setting is %s: %s', (limit, leases, isLeased) => {
  const [line] = dumpRules(compileRules(parseText(inLimit(limit)).domains, { leases }));
  expect(line?.includes('leased')).toBe(isLeased);
});

describe('a tree from another source', () => {
  const at = { path: 'descriptors[0]' };
  const text = (value: string): Located => ({ kind: 'scalar', text: value, quoted: true, at });
  const map = (fields: Readonly<Record<string, Located>>): Located => ({
    kind: 'map',
    pairs: Object.entries(fields).map(([key, value]) => ({ key: text(key), value })),
    at,
  });
  const list = (...items: Located[]): Located => ({ kind: 'list', items, at });
  const deep = (wrap: (one: Located) => Located): Located => {
    let tree = map({ key: text('k') });
    for (let depth = 0; depth < 10_000; depth += 1) tree = wrap(tree);
    return tree;
  };
  const unlimited = map({ unlimited: { ...text('true'), quoted: false } as Located });

  it.each<[string, Located, object]>([
    ['no key', map({ key: text('') }), { class: 'empty-key', at }],
    [
      'descriptors without end',
      deep((one) => map({ key: text('k'), descriptors: list(one) })),
      {
        class: 'too-deep',
        message: `descriptors are nested deeper than ${String(MAX_DEPTH)} lists and maps`,
      },
    ],
    [
      'metadata without end',
      map({
        key: text('k'),
        rate_limit: unlimited,
        metadata: deep((one) => map({ list: list(one) })),
      }),
      { class: 'too-deep' },
    ],
  ])('may not have %s', (_, rule, expected) => {
    const root = map({ domain: text('x'), descriptors: list(rule) });
    const sources = [{ file: 'resource', root, problems: [] }];
    expect(parseRuleFiles(sources, { mergeDomains: false }).problems).toEqual([
      expect.objectContaining({ ...expected, file: 'resource' }),
    ]);
  });
});
