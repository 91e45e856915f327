import { compileRules } from '../../../../src/core/rules/compile';
import { describeLimit, periodSecondsAt } from '../../../../src/core/rules/describe-limit';
import { dumpRules } from '../../../../src/core/rules/dump';
import { matchDescriptor } from '../../../../src/core/rules/match';
import type { RuleLimit, Rules } from '../../../../src/core/rules/rules';
import { request } from '../../../support/requests';
import { rulesOf } from '../../../support/rules';
import { parseText } from '../../../support/rule-texts';

/** The compiled limit of a `rate_limit` as a rule file writes it. */
function limitOf(written: string): RuleLimit {
  const { domains, problems } = parseText(
    `domain: shop\ndescriptors:\n  - { key: tenant, rate_limit: { ${written} } }\n`,
  );
  expect(problems).toEqual([]);
  const domain = compileRules(domains).domains.get('shop');
  const [descriptor] = request('shop', ['tenant=ann']).descriptors;
  const match = domain && descriptor && matchDescriptor(domain, descriptor);
  if (typeof match !== 'object') throw new Error(`no limit in ${written}`);
  return match.limit;
}

const HUNDRED = 'requests_per_unit: 100, unit: minute';
const FIVE_MINUTES = `${HUNDRED}, unit_multiplier: 5`;
const calendar = (more: string) => `requests_per_unit: 100, calendar: true, ${more}`;

it.each([
  ['100 per minute', HUNDRED],
  ['unlimited', 'unlimited: true'],
  ['100 per 5 minutes', FIVE_MINUTES],
  ['100 per 5 minutes', 'requests_per_unit: 100, unit: second, unit_multiplier: 300'],
  ['100 per minute', 'requests_per_unit: 100, unit: second, unit_multiplier: 60'],
  ['100 per 90 seconds', 'requests_per_unit: 100, unit: second, unit_multiplier: 90'],
  ['100 per 5 minutes, bursts of 20', `${FIVE_MINUTES}, algorithm: gcra, burst: 20`],
  ['100 per 5 minutes, bursts of 100', `${FIVE_MINUTES}, algorithm: token_bucket`],
  [
    '100 per minute, bursts of 100, refused hits are charged',
    `${HUNDRED}, algorithm: gcra, charge_denied: true`,
  ],
  ['100 per 5 minutes, sliding window', `${FIVE_MINUTES}, algorithm: sliding_window`],
  ['100 per minute, refused hits are not charged', `${HUNDRED}, charge_denied: false`],
  ['100 per calendar month', calendar('unit: month')],
  [
    '100 per calendar month in Europe/Berlin from day 15',
    calendar('unit: month, time_zone: Europe/Berlin, month_start: 15'),
  ],
  ['100 per 3 calendar months', calendar('unit: month, unit_multiplier: 3')],
  ['100 per calendar week from sunday', calendar('unit: week, week_start: sunday')],
  ['100 per calendar week', calendar('unit: week')],
])('a limit reads %s', (words, written) => {
  expect(describeLimit(limitOf(written))).toBe(words);
});

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
  expect(periodSecondsAt(limitOf(written), 1_700_000_125)).toBe(seconds);
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
