import { isError } from '../../../../../src/fields/problem';
import { parseRuleFiles } from '../../../../../src/core/rules/parse/parse-rule-files';
import { readRuleFile } from '../../../../../src/rule-sources/yaml/read-rule-file';

const TOKEN = `h1-${'0a'.repeat(16)}`;
const PLAIN = `s-${'0b'.repeat(16)}`;

function parse(descriptors: string, secretKeyIds?: readonly number[]) {
  const text = `domain: d\ndescriptors:\n${descriptors.replace(/^/gm, '  ')}\n`;
  return parseRuleFiles([readRuleFile('r.yaml', Buffer.from(text))], {
    mergeDomains: false,
    secretKeyIds,
  });
}

function secretsOf(descriptors: string, ids?: readonly number[]) {
  const { domains, problems } = parse(descriptors, ids);
  expect(problems.filter(isError)).toEqual([]);
  return domains[0]?.rules.map(({ key, secret, valueHash }) => [key, secret, valueHash]);
}

describe('secret values in a rule file', () => {
  it.each([
    ['hash_value: true', '- key: k\n  hash_value: true', [['k', 'keyed', undefined]]],
    ['hash_value: yes', '- key: k\n  hash_value: yes', [['k', 'keyed', undefined]]],
    ['hash_value: sha256', '- key: k\n  hash_value: sha256', [['k', 'sha256', undefined]]],
    ['hash_value: false', '- key: k\n  hash_value: false', [['k', undefined, undefined]]],
    ['hash_value:', '- key: k\n  hash_value:', [['k', undefined, undefined]]],
    ['a token of a key', `- key: k\n  value_hash: ${TOKEN}`, [['k', 'keyed', TOKEN]]],
    ['a token of no key', `- key: k\n  value_hash: ${PLAIN}`, [['k', 'sha256', PLAIN]]],
    [
      'a key that is secret on another level',
      '- key: k\n  descriptors:\n    - key: l\n      hash_value: true\n- key: l',
      [
        ['k', undefined, undefined],
        ['l', 'keyed', undefined],
        ['l', 'keyed', undefined],
      ],
    ],
    [
      'a key that is hashed in two ways',
      `- key: k\n  hash_value: sha256\n- key: k\n  value_hash: ${TOKEN}`,
      [
        ['k', 'keyed', undefined],
        ['k', 'keyed', TOKEN],
      ],
    ],
    [
      'metadata of the same names',
      '- key: k\n  rate_limit: { unit: day, requests_per_unit: 1 }\n  metadata: { key: k, hash_value: true }',
      [['k', undefined, undefined]],
    ],
  ])('%s', (_, descriptors, expected) => {
    expect(secretsOf(descriptors)).toEqual(expected);
  });

  it('makes a key secret in all files', () => {
    const files = ['a', 'b'].map((name) => {
      const more = name === 'b' ? ', hash_value: true' : '';
      const text = `domain: ${name}\ndescriptors: [{ key: k${more} }]\n`;
      return readRuleFile(`${name}.yaml`, Buffer.from(text));
    });
    const { domains } = parseRuleFiles(files, { mergeDomains: false });
    expect(domains.map(({ rules }) => rules[0]?.secret)).toEqual(['keyed', 'keyed']);
  });

  it.each([
    ['bad-hash-value', '- key: k\n  hash_value: "true"', 'found the string "true"'],
    ['bad-hash-value', '- key: k\n  hash_value: [a]', 'found a list'],
    ['bad-hash-value', '- key: "k\\0"\n  hash_value: true', 'without the character 0'],
    ['bad-value-hash', '- key: k\n  value_hash: the-secret', 'another string of 10 characters'],
    ['bad-value-hash', `- key: k\n  value_hash: h0-${TOKEN.slice(3)}`, 'another string of 35'],
    ['wrong-type', '- key: k\n  value_hash: [a]', 'value_hash must be a string'],
    [
      'value-beside-value-hash',
      `- key: k\n  value: the-secret\n  value_hash: ${TOKEN}`,
      'cannot be combined',
    ],
    [
      'duplicate-descriptor',
      `- key: k\n  value_hash: ${TOKEN}\n- key: k\n  value_hash: ${TOKEN}`,
      '',
    ],
    [
      'duplicate-descriptor',
      '- key: k\n  value: the-secret\n- key: k\n  value: the-secret\n  hash_value: true',
      'key "k" with value (secret) is already defined',
    ],
    [
      'duplicate-descriptor',
      '- key: k_a\n  value: the-secret\n- key: k\n  value: a_the-secret\n- { key: k, hash_value: true }\n- { key: k_a, hash_value: true }',
      'reads the same in counters and metrics as key "k_a" with value (secret)',
    ],
  ])('refuses %s in %j and shows no value', (name, descriptors, expected) => {
    const errors = parse(descriptors).problems.filter(isError);
    expect(errors).toEqual([expect.objectContaining({ class: name })]);
    expect(errors[0]?.message).toContain(expected);
    expect(errors[0]?.message).not.toContain('the-secret');
  });

  it.each([
    [
      'hash_value: true',
      '- key: k\n  hash_value: true',
      'set SECRET_KEYS_FILE, or hash_value: sha256',
    ],
    ['a token of a key', `- key: k\n  value_hash: ${TOKEN}`, 'value_hash needs the key 1'],
  ])('refuses %s without keys', (_, descriptors, expected) => {
    const [problem] = parse(descriptors, []).problems;
    expect(problem).toMatchObject({ severity: 'error', class: 'no-secret-keys' });
    expect(problem?.message).toContain(expected);
    expect(
      secretsOf(`- key: k\n  hash_value: sha256\n- key: k\n  value_hash: ${PLAIN}`, []),
    ).toBeDefined();
  });

  it.each([
    ['hash-mixed', '- key: k\n  hash_value: true\n- key: k\n  value: a*', undefined],
    ['hash-mixed', `- key: k\n  hash_value: sha256\n- key: k\n  value_hash: ${TOKEN}`, undefined],
    ['secret-in-file', '- key: k\n  value: the-secret\n  hash_value: true', undefined],
    ['unknown-secret-key', `- key: k\n  value_hash: ${TOKEN}`, [2, 3]],
  ])('warns of %s and shows no value', (name, descriptors, ids) => {
    const { problems } = parse(descriptors, ids);
    expect(problems).toEqual([expect.objectContaining({ severity: 'warning', class: name })]);
    expect(problems[0]?.message).not.toContain('the-secret');
  });

  it('says nothing of a good file', () => {
    const good = `- key: k\n  hash_value: true\n- key: k\n  value_hash: ${TOKEN}\n- key: k\n  value: live_*\n  hash_value: true`;
    expect(parse(good, [1]).problems).toEqual([]);
  });
});
