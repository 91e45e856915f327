import { briefly, parseText } from '../../../../support/rule-texts';

const found = (text: string): readonly (readonly [string, string])[] =>
  parseText(text).problems.map((problem) => [briefly(problem), problem.message]);

const limit = 'rate_limit: {unit: day, requests_per_unit: 1}';
const rule = (...lines: readonly string[]): string =>
  ['domain: x', 'descriptors:', '  - key: k', ...lines.map((line) => `    ${line}`), ''].join('\n');

const QUOTE_IT =
  'not valid YAML: a * that is not in quotes names an anchor: quote it, "*", or leave value out to match any value';
const TOO_DEEP =
  'not valid YAML: this line is indented too deep: expected it in the same column as the key above, which already has a value';
const NO_COLON =
  'not valid YAML: expected a key and its value on this line, with a colon and a space between them';
const unclosed = (quote: string): string =>
  `not valid YAML: the quote ${quote} that opens here is never closed`;

describe('what is not YAML is one message at the place to correct', () => {
  it.each<[string, string, string, string]>([
    ['a star alone', rule('value: *', limit), '4:12 yaml-syntax', QUOTE_IT],
    ['a star in a flow map', 'descriptors: [{key: a, value: *}]', '1:31 yaml-syntax', QUOTE_IT],
    ['a double quote', rule('value: "abc', limit), '4:12 yaml-syntax', unclosed('"')],
    ['a single quote', rule("value: 'abc", limit), '4:12 yaml-syntax', unclosed("'")],
    [
      'a quote before another one',
      rule('value: "abc', 'metadata: {a: "b"}', limit),
      '4:12 yaml-syntax',
      unclosed('"'),
    ],
    [
      'a quote after good ones',
      rule('value: "a"', 'metadata: {a: "b\\"c", d: \'e\'}', "# don't", 'on_store_error: "allow'),
      '7:21 yaml-syntax',
      unclosed('"'),
    ],
    ['a value too deep', rule('  value: b', limit), '4:7 yaml-syntax', TOO_DEEP],
    [
      'a limit too deep, after an empty line',
      rule('value: b', '', '  rate_limit:', '    unit: day'),
      '6:7 yaml-syntax',
      TOO_DEEP,
    ],
    ['no space after a colon', 'domain:x\ndescriptors: []\n', '1:1 yaml-syntax', NO_COLON],
    ['no colon', rule('value b', limit), '4:5 yaml-syntax', NO_COLON],
    ['descriptors too deep', 'domain: x\n  descriptors:\n', '2:3 yaml-syntax', TOO_DEEP],
  ])('%s', (_, text, place, message) => {
    expect(found(text)).toEqual([[place, message]]);
  });

  it('an alias that was meant as a wildcard is to be quoted', () => {
    expect(found(rule('value: *.example.com', limit))).toEqual([
      [
        '4:12 bad-alias',
        'alias ".example.com" cannot be resolved: no such anchor is defined above it; a string that begins with * needs quotes, "*.example.com"',
      ],
    ]);
  });
});

describe('a ConfigMap', () => {
  const head = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n';

  it.each([
    ['data:\n  web.yaml: |\n    domain: x\n', ', here what "web.yaml" holds'],
    ['data: {}\n', ''],
    ['', ''],
  ])('with %j is one mistake', (data, rest) => {
    expect(found(head + data)).toEqual([
      [
        '2:7 unknown-key',
        `this is a Kubernetes ConfigMap, not a rule file: take what is below data${rest}`,
      ],
    ]);
  });
});

describe('an empty rate_limit', () => {
  it('is a mistake where its fields stand beside it', () => {
    expect(found(rule('rate_limit:', 'unit: day', 'requests_per_unit: 1'))).toContainEqual([
      '4:16 empty-rate-limit',
      'rate_limit is empty: expected unit, requests_per_unit indented below it, found beside it',
    ]);
  });

  it.each([[rule('rate_limit:', 'value: v')], [rule('rate_limit: ~', 'value: v', 'name: n')]])(
    '%j: is taken when no field of it is lost',
    (text) => {
      const errors = parseText(text).problems.filter(({ severity }) => severity === 'error');
      expect(errors.map((problem) => problem.class)).toEqual(
        text.includes('name') ? ['empty-rate-limit'] : [],
      );
    },
  );
});

it('shadow_mode in a rate_limit leaves the limit enforced', () => {
  const text = rule('rate_limit: {unit: day, requests_per_unit: 1, shadow_mode: true}');
  expect(found(text)).toEqual([
    [
      '4:51 misplaced-key?',
      'the key "shadow_mode" has no effect in a rate_limit, so this limit is enforced; it belongs in a descriptor',
    ],
  ]);
});

describe('a unit', () => {
  const UNITS = 'second, minute, hour, day, week, month, year';

  it.each([
    ['minutes', '; did you mean "minute"?'],
    ['min', '; did you mean "minute"?'],
    ['hours', '; did you mean "hour"?'],
    ['5m', '; did you mean "minute" with unit_multiplier: 5?'],
    ['30 sec', '; did you mean "second" with unit_multiplier: 30?'],
    ['1h', '; did you mean "hour"?'],
    ['constructor', ''],
    ['fortnight', ''],
    ['5', ''],
  ])('%s is answered with what was meant', (unit, hint) => {
    const text = rule(`rate_limit: {unit: ${unit}, requests_per_unit: 1}`);
    expect(found(text)).toEqual([
      ['4:24 bad-unit', `unit "${unit}" is not one of ${UNITS}${hint}`],
    ]);
  });
});

describe('an entry without a limit', () => {
  const message = 'no limit here or below: requests that match the key "k" are not limited';

  it.each([[[]], [['descriptors: []']], [['detailed_metric: true']]])(
    'with %j does nothing',
    (lines) => {
      expect(found(rule(...lines))).toEqual([['3:5 no-limit?', message]]);
    },
  );

  it.each([['value: v'], ['hash_value: sha256'], [limit], [`descriptors: [{key: j, ${limit}}]`]])(
    'may stand with %s',
    (line) => {
      expect(found(rule(line))).toEqual([]);
    },
  );

  it('is not spoken of beside a mistake, which may hide the limit', () => {
    expect(found(rule('ratelimit: {}')).map(([place]) => place)).toEqual(['4:5 unknown-key']);
  });
});

describe('a value', () => {
  const warning = 'is plain text, not a regular expression: only * matches other characters';

  it.each([
    ['^/api/.*$', '; did you mean "/api/*"?'],
    ['/api/.+', '; did you mean "/api/*"?'],
    ['^bot', '; did you mean "bot"?'],
    ['[a-z]+', ''],
    ['api\\.example', ''],
  ])('that reads like the regular expression %s is warned of', (value, hint) => {
    const text = rule(`value: '${value}'`, limit);
    expect(found(text)).toEqual([
      ['4:12 regular-expression?', `value ${JSON.stringify(value)} ${warning}${hint}`],
    ]);
  });

  it.each(['*.example.com', 'api.*.com', '/api/*', 'a.b', 'v1.2+3', 'CORP\\dan', '$5', '[::1]'])(
    '%s is taken as it is',
    (value) => {
      expect(found(rule(`value: '${value}'`, limit))).toEqual([]);
    },
  );

  it('that is secret is not shown', () => {
    const text = rule("value: '^bot.*'", 'hash_value: sha256', limit);
    expect(found(text)).toEqual([['4:12 regular-expression?', `this value ${warning}`]]);
  });
});

describe('several limits of one value', () => {
  const see = 'for several limits of one value use rate_limits, see docs/rules.md';

  it.each([
    [`domain: x\ndescriptors:\n  - {key: k, ${limit}}\n  - {key: k, ${limit}}\n`],
    [rule('rate_limit:', '  - {unit: day, requests_per_unit: 1}')],
  ])('%j points to the recipe', (text) => {
    expect(found(text).map(([, message]) => message.endsWith(see))).toEqual([true]);
  });
});
