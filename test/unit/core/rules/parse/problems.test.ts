import { MAX_DEPTH, type Located } from '../../../../../src/fields/located';
import { parseRuleFiles } from '../../../../../src/core/rules/parse/parse-rule-files';
import { briefly, parseText, parseTexts, problemsOf } from '../../../../support/rule-texts';

const LIMIT = '{unit: day, requests_per_unit: 1}';

function inDescriptor(...lines: string[]): string {
  return ['domain: x', 'descriptors:', '  - key: k', ...lines.map((line) => `    ${line}`)].join(
    '\n',
  );
}

function inLimit(fields: string): string {
  return inDescriptor(`rate_limit: {${fields}}`);
}

describe('mistakes in a rule file', () => {
  it.each<[string, string, string[]]>([
    ['a list as the file', '- a', ['1:1 wrong-type']],
    ['a text as the file', 'hello', ['1:1 wrong-type']],
    ['only a comment', '# nothing', ['1:1 empty-domain']],
    ['null as the file', '~', ['1:1 empty-domain']],
    ['an empty domain', 'domain: ""', ['1:9 empty-domain']],
    ['a null domain', 'domain: ~', ['1:9 empty-domain']],
    ['a fraction as domain', 'domain: 1.5', ['1:9 wrong-type']],
    ['a list as domain', 'domain: [x]', ['1:9 wrong-type']],
    ['descriptors that are a text', 'domain: x\ndescriptors: y', ['2:14 wrong-type']],
    ['an empty element', 'domain: x\ndescriptors:\n  -\n', ['3:4 list-of-non-maps']],
    ['a list in a list', 'domain: x\ndescriptors: [[]]', ['2:15 list-of-non-maps']],
    ['an empty key', 'domain: x\ndescriptors: [{key: ""}]', ['2:21 empty-key']],
    ['a null key', 'domain: x\ndescriptors: [{key: ~}]', ['2:21 empty-key']],
    ['a list as key', 'domain: x\ndescriptors: [{key: [a]}]', ['2:21 wrong-type']],
    ['a fraction as value', inDescriptor('value: 1e3'), ['4:12 wrong-type']],
    ['infinity as value', inDescriptor('value: -.inf'), ['4:12 wrong-type']],
    ['a map as value', inDescriptor('value: {a: b}'), ['4:12 wrong-type']],
    ['a quoted boolean', inDescriptor('detailed_metric: "true"'), ['4:22 wrong-type']],
    ['a number as boolean', inDescriptor('value_to_metric: 1'), ['4:22 wrong-type']],
    ['a map as boolean', inDescriptor('value_to_metric: {}'), ['4:22 wrong-type']],
    ['a limit that is a list', inDescriptor('rate_limit: []'), ['4:17 wrong-type']],
    [
      'metadata that is a list',
      inDescriptor(`rate_limit: ${LIMIT}`, 'metadata: [1]'),
      ['5:15 wrong-type'],
    ],
    ['a list as a key', inDescriptor('? [a]', ': b'), ['4:7 non-string-key']],
    ['a boolean as a key', inDescriptor('yes: b'), ['4:5 non-string-key']],
    ['null as a key', inDescriptor('~: b'), ['4:5 non-string-key']],
    ['too many requests', inLimit('unit: day, requests_per_unit: 4294967296'), ['4:48 wrong-type']],
    ['half a request', inLimit('unit: day, requests_per_unit: 0.5'), ['4:48 wrong-type']],
    ['a list of requests', inLimit('unit: day, requests_per_unit: [1]'), ['4:48 wrong-type']],
    ['08, which is not octal', inLimit('unit: day, requests_per_unit: 08'), ['4:48 wrong-type']],
    ['base 60', inLimit('unit: day, requests_per_unit: 1:30'), ['4:48 wrong-type']],
    ['no number of requests', inLimit('unit: day'), ['4:17 missing-requests-per-unit']],
    [
      'null requests',
      inLimit('unit: day, requests_per_unit: ~'),
      ['4:17 missing-requests-per-unit'],
    ],
    ['an empty unit', inLimit('unit: "", requests_per_unit: 1'), ['4:24 bad-unit']],
    ['a list as unit', inLimit('unit: [day], requests_per_unit: 1'), ['4:24 wrong-type']],
    [
      'a wrong unit beside unlimited',
      inLimit('unit: x, unlimited: true'),
      ['4:24 unit-beside-unlimited'],
    ],
    ['replaces that is a map', inLimit(`unlimited: yes, replaces: {name: a}`), ['4:44 wrong-type']],
    ['replaces with a text', inLimit(`unlimited: yes, replaces: [a]`), ['4:45 list-of-non-maps']],
    ['replaces without a name', inLimit(`unlimited: yes, replaces: [{}]`), ['4:45 empty-replaces']],
    [
      'replaces with a fraction',
      inLimit(`unlimited: yes, replaces: [{name: 1.5}]`),
      ['4:52 wrong-type'],
    ],
    [
      'an unknown key in replaces',
      inLimit(`unlimited: yes, name: n, replaces: [{nmae: n}]`),
      ['4:55 unknown-key'],
    ],
    [
      'share_threshold without a value',
      inDescriptor('share_threshold: true'),
      ['4:22 share-threshold-without-star'],
    ],
    ['a key of several lines', 'domain: x\n"a\n b": c', ['2:1 yaml-syntax']],
  ])('%s is refused at its place', (_, text, expected) => {
    expect(problemsOf(text)).toEqual(expected);
  });

  it('are all reported together, by place', () => {
    const text = `domian: x
descriptors:
  - value: 1.5
    rate_limit: {unit: fortnight, requests_per_unit: -1, replaces: [{name: ""}]}
  - key: k
    shadow_mode: maybe
    descriptors:
      - key: 0.5
      - b
`;
    expect(problemsOf(text)).toEqual([
      '1:1 unknown-key',
      '3:5 empty-key',
      '3:12 wrong-type',
      '4:24 bad-unit',
      '4:54 wrong-type',
      '4:76 empty-replaces',
      '6:18 wrong-type',
      '6:18 idle-key?',
      '8:14 wrong-type',
      '9:9 list-of-non-maps',
    ]);
  });

  it.each([
    ['value: 1.5', 'value must be a string, found the unquoted fraction 1.5: quote it, "1.5"'],
    [
      'detailed_metric: "on"',
      'detailed_metric must be a boolean (true or false, unquoted); found the string "on"',
    ],
    [
      'rate_limit: {unit: fortnight, requests_per_unit: 1}',
      'unit "fortnight" is not one of second, minute, hour, day, week, month, year',
    ],
    ['rate_limit: ""', 'rate_limit must be a map; found an empty string'],
    [
      '? {}\n    : 1',
      'a key in a descriptor must be a string, one of key, value, rate_limit, rate_limits, reserve, block, descriptors, shadow_mode, quota_mode, detailed_metric, value_to_metric, share_threshold, metadata, on_store_error, hash_value, value_hash; found a map',
    ],
    [
      'Rate-Limit: {}',
      'unknown key "Rate-Limit" in a descriptor: did you mean "rate_limit"? known keys are key, value, rate_limit, rate_limits, reserve, block, descriptors, shadow_mode, quota_mode, detailed_metric, value_to_metric, share_threshold, metadata, on_store_error, hash_value, value_hash',
    ],
    [
      'colour: red',
      'unknown key "colour" in a descriptor: known keys are key, value, rate_limit, rate_limits, reserve, block, descriptors, shadow_mode, quota_mode, detailed_metric, value_to_metric, share_threshold, metadata, on_store_error, hash_value, value_hash',
    ],
    [`value: ["${'x'.repeat(200)}"]`, 'value must be a string; found a list'],
    [
      `value_to_metric: ${'x'.repeat(200)}`,
      `value_to_metric must be a boolean (true or false, unquoted); found ${'x'.repeat(80)}…`,
    ],
  ])('%j is explained', (line, message) => {
    expect(parseText(inDescriptor(line)).problems.map((problem) => problem.message)).toEqual([
      message,
    ]);
  });

  it('shows what nobody would see', () => {
    expect(parseText('\u200bdomain: x').problems.map((problem) => problem.message)).toEqual([
      'unknown key "\\u200bdomain" at the top level of a file: did you mean "domain"? known keys are domain, descriptors, charge',
    ]);
    expect(parseText('{domain: x, descriptors: a\u00a0b}').problems[0]?.message).toBe(
      'descriptors must be a list; found the string "a\\u00a0b"',
    );
  });

  it('are reported once where an alias repeats them', () => {
    const text = `domain: x
descriptors:
  - key: a
    rate_limit: &limit {unit: eon, requests_per_unit: 1}
  - {key: b, rate_limit: *limit}
`;
    expect(problemsOf(text)).toEqual(['4:31 bad-unit']);
  });
});

describe('two entries of one level', () => {
  it.each<[string, string, string]>([
    [
      'key: a',
      'key: a',
      'key "a" is already defined on line 3; expected each key and value once on a level; for several limits of one value use rate_limits, see docs/rules.md',
    ],
    [
      '{key: a, value: ""}',
      '{key: a, value: ~}',
      'key "a" is already defined on line 3; expected each key and value once on a level; for several limits of one value use rate_limits, see docs/rules.md',
    ],
    [
      '{key: a, value: 010}',
      '{key: a, value: "010"}',
      'key "a" with value "010" is already defined on line 3; expected each key and value once on a level; for several limits of one value use rate_limits, see docs/rules.md',
    ],
    [
      '{key: a, value: b_c}',
      '{key: a_b, value: c}',
      'key "a_b" with value "c" reads the same in counters and metrics, "a_b_c", as key "a" with value "b_c" on line 3',
    ],
    [
      '{key: a, value: b}',
      'key: a_b',
      'key "a_b" reads the same in counters and metrics, "a_b", as key "a" with value "b" on line 3',
    ],
  ])('%s and %s are duplicates', (first, second, message) => {
    const { problems } = parseText(`domain: x\ndescriptors:\n  - ${first}\n  - ${second}`);
    expect(problems.map((problem) => [briefly(problem), problem.message])).toEqual([
      ['4:5 duplicate-descriptor', message],
    ]);
  });

  it.each([
    ['{key: a, value: 8}', '{key: a, value: 010}'],
    [`{key: a, rate_limit: ${LIMIT}}`, '{key: a, value: b}'],
    ['{key: a, value: "b*"}', '{key: a, value: b}'],
    [`{key: A, rate_limit: ${LIMIT}}`, `{key: a, rate_limit: ${LIMIT}}`],
    ['{key: a, descriptors: [{key: c, value: d}]}', '{key: b, descriptors: [{key: c, value: d}]}'],
  ])('%s and %s stand side by side', (first, second) => {
    expect(problemsOf(`domain: x\ndescriptors:\n  - ${first}\n  - ${second}`)).toEqual([]);
  });
});

describe('one domain in several files', () => {
  const inner = `descriptors: [{key: inner, rate_limit: ${LIMIT}}]`;
  const a = `domain: x\ndescriptors:\n  - key: a\n    ${inner}\n`;
  const b = `domain: x\ndescriptors:\n  - key: b\n    ${inner}\n`;
  const other = `domain: y\n${inner}\n`;

  it('is a mistake in each file after the first', () => {
    const { problems } = parseTexts({ 'c.yaml': b, 'b.yaml': other, 'a.yaml': a }, false);
    expect(problems).toEqual([
      {
        severity: 'error',
        class: 'duplicate-domain',
        file: 'c.yaml',
        at: { line: 1, column: 9 },
        message:
          'domain "x" is already defined in a.yaml, line 1; expected one file for a domain, or MERGE_DOMAIN_CONFIG=true',
      },
    ]);
  });

  it('stands side by side when merged, in the order of the names', () => {
    const { domains, problems } = parseTexts({ 'c.yaml': b, 'b.yaml': other, 'a.yaml': a }, true);
    expect(problems).toEqual([]);
    expect(domains.map(({ domain }) => domain)).toEqual(['x', 'y']);
    expect(domains[0]?.rules.map(({ parent, key }) => [parent, key])).toEqual([
      [-1, 'a'],
      [0, 'inner'],
      [-1, 'b'],
      [2, 'inner'],
    ]);
  });

  it('holds no entry twice when merged', () => {
    const { problems } = parseTexts({ '2.yaml': a, '1.yaml': a }, true);
    expect(problems.map((problem) => [problem.file, briefly(problem), problem.message])).toEqual([
      [
        '2.yaml',
        '3:5 duplicate-descriptor',
        'key "a" is already defined on line 3 of 1.yaml; expected each key and value once on a level; for several limits of one value use rate_limits, see docs/rules.md',
      ],
    ]);
  });

  it('keeps the mistakes of each file apart', () => {
    const { problems } = parseTexts({ 'b.yaml': 'domain: [', 'a.yaml': '', 'c.yaml': a }, false);
    expect(problems.map(({ file, class: name }) => [file, name])).toEqual([
      ['a.yaml', 'empty-domain'],
      ['b.yaml', 'yaml-syntax'],
    ]);
  });
});

describe('remarks', () => {
  it.each<[string, string, string[]]>([
    ['a known key on another level', inDescriptor('unit: day'), ['4:5 misplaced-key?']],
    ['a limit on the top level', 'domain: x\nrate_limit: {}', ['2:1 misplaced-key?']],
    ['a key given twice', 'domain: y\ndomain: x', ['2:1 duplicate-key?']],
    [
      'a key given twice in metadata',
      inDescriptor(`rate_limit: ${LIMIT}`, 'metadata: {a: 1, a: 2}'),
      ['5:22 duplicate-key?'],
    ],
    [
      'a star in a key',
      `domain: x\ndescriptors: [{key: "a*", rate_limit: ${LIMIT}}]`,
      ['2:21 star-in-key?'],
    ],
    [
      'flags without a limit',
      inDescriptor('shadow_mode: yes', 'quota_mode: on', 'metadata: {a: 1}'),
      ['4:18 idle-key?', '5:17 idle-key?', '6:15 idle-key?'],
    ],
    [
      'a replaced name that nobody has',
      inLimit('unlimited: true, name: n, replaces: [{name: m}]'),
      ['4:62 replaces-nothing?'],
    ],
    ['a document after the first', 'domain: x\n---\ndomain: [\n', ['2:1 extra-document?']],
    ['an unknown tag', 'domain: !name x', ['1:15 unknown-tag?']],
    ['an unknown directive', '%FOO bar\n---\ndomain: x', ['1:1 yaml-remark?']],
  ])('%s is accepted with a warning', (_, text, expected) => {
    const { domains, problems } = parseText(text);
    expect(problems.map(briefly)).toEqual(expected);
    expect(domains[0]?.domain).toBe('x');
  });

  it('flags that are off need no limit: generated files hold all of them', () => {
    const flags = ['shadow_mode', 'quota_mode', 'detailed_metric', 'value_to_metric'];
    const text = inDescriptor(
      'value: v',
      ...flags.map((flag) => `${flag}: false`),
      'share_threshold: no',
    );
    expect(parseText(text).problems).toEqual([]);
  });

  it('a replaced name may stand anywhere in its domain', () => {
    const named = 'domain: x\ndescriptors: [{key: a, rate_limit: {unlimited: true, name: n}}]';
    const replacing =
      'domain: x\ndescriptors: [{key: b, rate_limit: {unlimited: true, replaces: [{name: n}]}}]';
    expect(parseTexts({ a: replacing, b: named }, true).problems).toEqual([]);
    expect(
      parseTexts({ a: replacing, b: named.replace('x', 'y') }, true).problems.map(briefly),
    ).toEqual(['2:72 replaces-nothing?']);
  });
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
  const parse = (root: Located) =>
    parseRuleFiles([{ file: 'resource', root, problems: [] }], { mergeDomains: false });

  it('is checked all the same', () => {
    const root = map({ domain: text('x'), descriptors: list(map({ key: text('') })) });
    expect(parse(root).problems).toEqual([
      expect.objectContaining({ class: 'empty-key', file: 'resource', at }),
    ]);
  });

  it('may not hold descriptors without end', () => {
    let descriptors = list(map({ key: text('k') }));
    for (let depth = 0; depth < 10_000; depth += 1) {
      descriptors = list(map({ key: text('k'), descriptors }));
    }
    expect(parse(map({ domain: text('x'), descriptors })).problems).toEqual([
      expect.objectContaining({
        class: 'too-deep',
        message: `descriptors are nested deeper than ${String(MAX_DEPTH)} lists and maps`,
      }),
    ]);
  });

  it('may not hold metadata without end', () => {
    let metadata = map({});
    for (let depth = 0; depth < 10_000; depth += 1) metadata = map({ list: list(metadata) });
    const limit = map({
      unit: text('day'),
      requests_per_unit: { ...text('1'), quoted: false } as Located,
    });
    const rule = map({ key: text('k'), rate_limit: limit, metadata });
    expect(parse(map({ domain: text('x'), descriptors: list(rule) })).problems).toEqual([
      expect.objectContaining({ class: 'too-deep' }),
    ]);
  });
});
