import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compileRules } from '../../../../src/core/rules/compile';
import { describeLimit, periodSecondsAt } from '../../../../src/core/rules/describe-limit';
import { dumpRules } from '../../../../src/core/rules/dump';
import { matchDescriptor } from '../../../../src/core/rules/match';
import type { RuleLimit, Rules } from '../../../../src/core/rules/rules';
import { descriptor } from '../../../support/requests';
import { rulesOf } from '../../../support/rules';
import { parseText } from '../../../support/rule-texts';
import { readTable } from '../../../support/text-table';

/** The compiled limit of the only rule of a file. */
function limitOf(file: string): RuleLimit {
  const { domains, problems } = parseText(file);
  expect(problems).toEqual([]);
  const domain = compileRules(domains).domains.get('shop');
  const match = domain && matchDescriptor(domain, descriptor('tenant=ann'));
  if (typeof match !== 'object') throw new Error('no limit');
  return match.limit;
}

const TABLE = readTable(readFileSync(join(__dirname, 'words.txt'), 'utf8'));

it.each(TABLE)('a limit of $title reads $expected', ({ given, expected }) => {
  expect([describeLimit(limitOf(given))]).toEqual(expected);
});

const HUNDRED = 'requests_per_unit: 100, unit: minute';
const FIVE_MINUTES = `${HUNDRED}, unit_multiplier: 5`;
const calendar = (more: string) => `requests_per_unit: 100, calendar: true, ${more}`;

it.each([
  [60, HUNDRED],
  [300, FIVE_MINUTES],
  [300, `${FIVE_MINUTES}, algorithm: gcra`],
  [90, 'requests_per_unit: 100, unit: second, unit_multiplier: 90'],
  // November 2023, the 14th, and its Sunday at which Los Angeles left summer time.
  [30 * 86_400, calendar('unit: month')],
  [30 * 86_400 + 3_600, calendar('unit: month, time_zone: America/Los_Angeles')],
  [92 * 86_400, calendar('unit: month, unit_multiplier: 3')],
])('a period takes %d seconds', (seconds, written) => {
  expect(
    periodSecondsAt(
      limitOf(`domain: shop\ndescriptors: [{ key: tenant, rate_limit: { ${written} } }]\n`),
      1_700_000_125,
    ),
  ).toBe(seconds);
});

it('adds the words to the lines of uncommon limits alone', () => {
  const limitsFrom = { key: 'tenant_limits', refreshMs: 10_000 };
  const rules: Rules = rulesOf('shop', [
    { key: 'user', limit: [2, 'HOUR'] },
    { key: 'tenant', limit: { requestsPerUnit: 100, unit: 'MINUTE', limitsFrom } },
  ]);
  expect(dumpRules(rules)).toEqual([
    'shop.user: unit=HOUR requests_per_unit=2, shadow_mode: false, quota_mode: false',
    'shop.tenant: unit=MINUTE requests_per_unit=100, shadow_mode: false, quota_mode: false, limit: 100 per minute, for values without a field in tenant_limits',
  ]);
});
