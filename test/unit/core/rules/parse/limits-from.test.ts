import { readRuleFile } from '../../../../../src/rule-sources/yaml/read-rule-file';
import { parseRuleFiles } from '../../../../../src/core/rules/parse/parse-rule-files';
import { parseText, rulesOf } from '../../../../support/rule-texts';

const text = (from: string, limit = 'unit: minute, requests_per_unit: 100') =>
  `domain: x\ndescriptors:\n  - key: tenant\n    rate_limit:\n      {${limit}, limits_from: ${from}}\n`;

it.each([
  ['{key: tenant_limits}', 10_000],
  ['{key: tenant_limits, refresh: 1s}', 1_000],
  ['{key: tenant_limits, refresh: 5m}', 300_000],
  ['{key: tenant_limits, refresh: 24h}', 86_400_000],
])('limits_from: %s reads every so many milliseconds', (from, refreshMs) => {
  expect(rulesOf(text(from))[0]?.limit?.limitsFrom).toEqual({ key: 'tenant_limits', refreshMs });
});

it('a limit without it is for all values alike', () => {
  expect(rulesOf(text('~'))[0]?.limit?.limitsFrom).toBeUndefined();
});

it.each([
  ['tenant_limits', 'wrong-type', 'limits_from must be a map; found tenant_limits'],
  ['{refresh: 1s}', 'bad-limits-from', 'limits_from has no key'],
  ['{key: "", refresh: 1s}', 'bad-limits-from', 'limits_from has no key'],
  ['{key: k, refresh: 0s}', 'bad-limits-from', 'refresh "0s" is not a time from 1s to 24h'],
  ['{key: k, refresh: 25h}', 'bad-limits-from', 'refresh "25h" is not a time from 1s to 24h'],
  ['{key: k, refresh: 100ms}', 'bad-limits-from', 'refresh "100ms" is not a time'],
  ['{key: k, refesh: 10s}', 'unknown-key', 'did you mean "refresh"?'],
])('limits_from: %s is a mistake', (from, kind, message) => {
  const { domains, problems } = parseText(text(from));
  expect(domains).toEqual([]);
  expect(problems).toMatchObject([{ class: kind, at: { line: 5 }, severity: 'error' }]);
  expect(problems[0]?.message).toContain(message);
});

it('needs a limit for values without a field', () => {
  const { problems } = parseText(text('{key: k}', 'unlimited: true'));
  expect(problems).toMatchObject([{ class: 'bad-limits-from' }]);
});

it('is refused where the store has no hashes, naming it', () => {
  const source = readRuleFile('rules.yaml', text('{key: k}'));
  const options = { mergeDomains: false, abilities: { kind: 'memstore', scripts: false } as const };
  const { domains, problems } = parseRuleFiles([source], options);
  expect(domains).toEqual([]);
  expect(problems).toMatchObject([{ class: 'store-without-hashes', at: { line: 5 } }]);
  expect(problems[0]?.message).toBe(
    'limits_from needs a store that has hashes, BACKEND_TYPE=kvstore; found BACKEND_TYPE=memstore',
  );
});
