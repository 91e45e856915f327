import type { DomainDefinition } from '../../../../src/core/rules/definition';
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
  return compiledLimit(domains);
}

function compiledLimit(domains: readonly DomainDefinition[]): RuleLimit {
  const domain = compileRules(domains).domains.get('shop');
  const [descriptor] = request('shop', ['tenant=ann']).descriptors;
  const match = domain && descriptor && matchDescriptor(domain, descriptor);
  if (typeof match !== 'object') throw new Error('no limit');
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

const ruleOf = (fields: string): RuleLimit => limitOf(`${HUNDRED} }, ${fields}, metadata: {`);
const LIST = (...more: readonly string[]): RuleLimit => {
  const { domains } = parseText(
    `domain: shop\ndescriptors: [{ key: tenant, rate_limits: [${more.map((one) => `{ ${one} }`).join(', ')}] }]\n`,
  );
  return compiledLimit(domains);
};
const SECOND = 'requests_per_unit: 10, unit: second';
const THOUSAND = 'requests_per_unit: 1000, unit: hour';

it.each<[string, () => RuleLimit]>([
  ['10 per second', () => LIST(SECOND)],
  ['1,000 per hour, sliding window', () => LIST(`${THOUSAND}, algorithm: sliding_window`)],
  ['10 per second and 1,000 per hour', () => LIST(SECOND, THOUSAND)],
  [
    '10 per second, 1,000 per hour (bursts of 1000) and at most 2,000 in flight, reservations of up to 10 minutes',
    () =>
      LIST(SECOND, `${THOUSAND}, algorithm: gcra`, 'algorithm: in_flight, requests_per_unit: 2000'),
  ],
  [
    '10 per second and 1,000 per hour (refused hits are charged)',
    () => LIST(SECOND, `${THOUSAND}, charge_denied: true`),
  ],
  [
    '10 per second (blocked for 1 minute after 3 refusals) and 1,000 per hour (for values without a field in h)',
    () => LIST(`${SECOND}, block: {after: 3, for: 1m}`, `${THOUSAND}, limits_from: {key: h}`),
  ],
  [
    'at most 10 in flight, reservations of up to 10 minutes',
    () => limitOf('algorithm: in_flight, requests_per_unit: 10'),
  ],
  ['100 per minute, reservations of up to 10 minutes', () => ruleOf('reserve: ')],
  [
    '100 per minute, reservations of up to 90 seconds, released unsettled',
    () => ruleOf('reserve: {lease: 90s, unsettled: release}'),
  ],
  [
    '100 per minute, blocked for 15 minutes after a refusal',
    () => limitOf(`${HUNDRED}, block: {for: 15m}`),
  ],
  [
    '100 per minute, blocked for 15 minutes after 3 refusals',
    () => ruleOf('block: {after: 3, for: 15m}'),
  ],
  [
    '100 per minute, blocked for 500 milliseconds after 3 refusals within 10 minutes, then for up to 1 day',
    () => ruleOf('block: {after: 3, within: 10m, for: 500ms, up_to: 24h}'),
  ],
])('the limits of a rule read %s', (words, limit) => {
  expect(describeLimit(limit())).toBe(words);
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
