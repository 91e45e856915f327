import { compileRules } from '../../../../../src/core/rules/compile';
import { dumpRules } from '../../../../../src/core/rules/dump';
import { parseRuleFiles } from '../../../../../src/core/rules/parse/parse-rule-files';
import { readRuleFile } from '../../../../../src/rule-sources/yaml/read-rule-file';
import { briefly, parseText } from '../../../../support/rule-texts';

const file = (limit: string, more = '', top = ''): string =>
  `domain: x\n${top}\ndescriptors: [{key: k, rate_limit: {leased: true, ${limit}}${more}}]\n`;
const DAY = 'unit: day, requests_per_unit: 9';
const AT = '3:45 leased-beside';

const isLeased = (text: string, leases = false): boolean => {
  const { domains, problems } = parseText(text);
  expect(problems).toEqual([]);
  return dumpRules(compileRules(domains, { leases })).some((line) => line.endsWith('leased: true'));
};

it('a rule says that its hits are leased, or the setting says it for all', () => {
  const silent = `domain: x\ndescriptors: [{key: k, rate_limit: {${DAY}}}]\n`;
  expect(isLeased(file(DAY))).toBe(true);
  expect(isLeased(silent)).toBe(false);
  expect(isLeased(silent, true)).toBe(true);
  expect(isLeased(file(DAY).replace('leased: true', 'leased: false'), true)).toBe(false);
});

it.each([
  [`${DAY}, algorithm: gcra`],
  [`${DAY}, charge_denied: false`],
  [`${DAY}, block: {for: 1m}`],
  ['unit: day, requests_per_unit: 0, block: {for: 1m}'],
])('the setting leases nothing of %s', (limit) => {
  const text = `domain: x\ndescriptors: [{key: k, rate_limit: {${limit}}}]\n`;
  const { domains } = parseText(text);
  expect(dumpRules(compileRules(domains, { leases: true })).join()).not.toContain('leased');
});

it.each([
  ['algorithm: gcra', file(`${DAY}, algorithm: gcra`)],
  ['charge_denied: false', file(`${DAY}, charge_denied: false`)],
  ['unlimited: true', file('unlimited: true')],
  ['block', file(`${DAY}, block: {for: 1m}`)],
  ['reserve', file(DAY, ', reserve: {lease: 1m}')],
  ['algorithm: in_flight', file('algorithm: in_flight, requests_per_unit: 3')],
  ['charge: together', file(DAY, '', 'charge: together')],
])('leased: true beside %s is refused at its place', (other, text) => {
  const { problems } = parseText(text);
  expect(problems.map((one) => [briefly(one), one.message])).toEqual([
    [AT, `leased: true cannot be combined with ${other}; expected one or the other`],
  ]);
});

it('leased: true in a list, and where counters are held back, is refused', () => {
  const list = `domain: x\ndescriptors: [{key: k, rate_limits: [{leased: true, ${DAY}}]}]\n`;
  expect(parseText(list).problems.map(briefly)).toEqual(['2:47 leased-beside']);
  const abilities = { kind: 'kvstore', scripts: true, holdsBack: true } as const;
  const options = { mergeDomains: false, abilities, secretKeyIds: undefined };
  const { problems } = parseRuleFiles([readRuleFile('a.yaml', file(DAY))], options);
  expect(problems.map(briefly)).toEqual([AT]);
});
