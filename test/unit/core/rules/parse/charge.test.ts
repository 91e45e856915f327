import { briefly, parseText, parseTexts } from '../../../../support/rule-texts';
import { parseRuleFiles } from '../../../../../src/core/rules/parse/parse-rule-files';
import type { StoreAbilities } from '../../../../../src/core/rules/parse/store-abilities';
import { readRuleFile } from '../../../../../src/rule-sources/yaml/read-rule-file';

const LIMIT = 'rate_limit: {unit: day, requests_per_unit: 1}';
const file = (charge: string, key = 'k'): string =>
  `domain: x\n${charge}\ndescriptors: [{key: ${key}, ${LIMIT}}]\n`;

describe('charge', () => {
  it.each([
    ['', undefined],
    ['charge: apart', undefined],
    ['charge: ', undefined],
    ['charge: together', true],
    ['charge: "together"', true],
  ])('%j', (line, isChargedTogether) => {
    const { domains, problems } = parseText(file(line));
    expect(problems).toEqual([]);
    expect(domains[0]?.isChargedTogether).toBe(isChargedTogether);
  });

  it.each([
    [
      'charge: togehter',
      '2:9 bad-charge',
      'charge "togehter" is not one of together, apart; did you mean "together"?',
    ],
    ['charge: [together]', '2:9 wrong-type', 'charge must be a string; found a list'],
    [
      'chagre: together',
      '2:1 unknown-key',
      'unknown key "chagre" at the top level of a file: did you mean "charge"? known keys are domain, descriptors, charge',
    ],
  ])('%j is refused', (line, place, message) => {
    expect(parseText(file(line)).problems.map((one) => [briefly(one), one.message])).toEqual([
      [place, message],
    ]);
  });

  it('in a descriptor has no effect', () => {
    const text = `domain: x\ndescriptors: [{key: k, charge: together, ${LIMIT}}]`;
    expect(parseText(text).problems.map(({ message }) => message)).toEqual([
      'the key "charge" has no effect in a descriptor; it belongs at the top level of a file',
    ]);
  });

  it.each([
    ['charge: together', '', true],
    ['', 'charge: together', true],
    ['charge: apart', 'charge: apart', undefined],
    ['charge: together', 'charge: together', true],
  ])('of merged files %j and %j holds for the domain', (first, second, isChargedTogether) => {
    const files = { 'a.yaml': file(first), 'b.yaml': file(second, 'j') };
    const { domains, problems } = parseTexts(files, true);
    expect(problems).toEqual([]);
    expect(domains.map((domain) => domain.isChargedTogether)).toEqual([isChargedTogether]);
  });

  it('of merged files must be the same', () => {
    const files = { 'a.yaml': file('charge: apart'), 'b.yaml': file('charge: together', 'j') };
    const { domains, problems } = parseTexts(files, true);
    expect(domains).toEqual([]);
    expect(problems).toMatchObject([
      {
        class: 'different-charge',
        file: 'b.yaml',
        at: { line: 2, column: 9 },
        message:
          'charge is together here and apart on line 2 of a.yaml; expected the same throughout the domain',
      },
    ]);
  });
});

const problemsWith = (text: string, abilities: StoreAbilities) =>
  parseRuleFiles([readRuleFile('rules.yaml', text)], {
    mergeDomains: false,
    abilities,
  }).problems.map((problem) => [briefly(problem), problem.message]);

const WORDS = [
  ['rate_limits: [{unit: day, requests_per_unit: 1}]', 'rate_limits', '3:37'],
  [`${LIMIT}, reserve: `, 'reserve', '3:36'],
  [`${LIMIT}, block: {for: 1m}`, 'block', '3:36'],
  [`rate_limit: {unit: day, requests_per_unit: 1, block: {for: 1m}}`, 'block', '3:36'],
  ['rate_limit: {algorithm: in_flight, requests_per_unit: 1}', 'algorithm: in_flight', '3:36'],
] as const;

describe('a store that cannot count by them', () => {
  const text = (fields: string): string => `domain: x\n\ndescriptors: [{key: k, ${fields}}]\n`;

  it.each(WORDS)('refuses {%s} at its place', (fields, feature, place) => {
    const expected = (why: string) => [[`${place} store-without-algorithms`, why]];
    expect(problemsWith(text(fields), { kind: 'memstore', scripts: false })).toEqual(
      expected(
        `${feature} cannot be counted in memcached; expected BACKEND_TYPE=kvstore or memory, or a rate_limit alone`,
      ),
    );
    expect(problemsWith(text(fields), { kind: 'kvstore', scripts: false })).toEqual(
      expected(`${feature} needs scripts; expected KVSTORE_SCRIPTS=true, or a rate_limit alone`),
    );
  });

  it.each(WORDS)('takes {%s} where it can', (fields) => {
    const stores: readonly StoreAbilities[] = [
      { kind: 'memory', scripts: false },
      { kind: 'kvstore', scripts: true, keyPrefix: 'a:' },
    ];
    for (const abilities of stores) expect(problemsWith(text(fields), abilities)).toEqual([]);
  });

  it.each(WORDS)('refuses {%s} below a prefix with a brace', (fields, feature, place) => {
    for (const keyPrefix of ['{a}', 'a}', '{'])
      expect(problemsWith(text(fields), { kind: 'kvstore', scripts: true, keyPrefix })).toEqual([
        [
          `${place} store-without-algorithms`,
          `${feature} needs braces in its counter keys: expected CACHE_KEY_PREFIX without { and }; found "${keyPrefix}"`,
        ],
      ]);
  });

  it('takes a plain limit below any prefix', () => {
    const abilities = { kind: 'kvstore', scripts: true, keyPrefix: '{a}' } as const;
    expect(problemsWith(text(LIMIT), abilities)).toEqual([]);
  });

  it('refuses charge: together', () => {
    expect(problemsWith(file('charge: together'), { kind: 'memstore', scripts: false })).toEqual([
      [
        '2:9 store-without-algorithms',
        'charge: together cannot be counted in memcached; expected BACKEND_TYPE=kvstore or memory, or charge: apart',
      ],
    ]);
    expect(problemsWith(file('charge: together'), { kind: 'kvstore', scripts: false })).toEqual([
      [
        '2:9 store-without-algorithms',
        'charge: together needs scripts; expected KVSTORE_SCRIPTS=true, or charge: apart',
      ],
    ]);
    expect(problemsWith(file('charge: apart'), { kind: 'memstore', scripts: false })).toEqual([]);
  });

  it('says of each limit of a list that it has no hashes', () => {
    const fields =
      'rate_limits: [{unit: day, requests_per_unit: 1, limits_from: {key: h}}, {unit: hour, requests_per_unit: 1}]';
    expect(problemsWith(text(fields), { kind: 'memory', scripts: false })).toEqual([
      [
        '3:37 store-without-hashes',
        'limits_from needs a store that has hashes, BACKEND_TYPE=kvstore; found BACKEND_TYPE=memory',
      ],
    ]);
  });
});
