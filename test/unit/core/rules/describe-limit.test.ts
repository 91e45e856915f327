import { toAlgorithm, type AlgorithmName } from '../../../../src/core/algorithms/algorithm';
import { describeLimit, periodSecondsAt } from '../../../../src/core/rules/describe-limit';
import { dumpRules } from '../../../../src/core/rules/dump';
import type { RuleLimit, Rules } from '../../../../src/core/rules/rules';
import type { CalendarPeriod } from '../../../../src/core/windows/calendar';
import { windowOfLength } from '../../../../src/core/windows/length';
import { rulesOf, SOME_LIMIT } from '../../../support/rules';

const HUNDRED: RuleLimit = { ...SOME_LIMIT, requestsPerUnit: 100, unit: 'MINUTE' };

const algorithm = (name: AlgorithmName, more: object = {}) => ({
  algorithm: toAlgorithm({
    name,
    limit: 100,
    burst: undefined,
    chargeDenied: undefined,
    periodSeconds: 300,
    ...more,
  }),
});
const windows = (seconds: number) => ({
  windowAt: (nowSeconds: number) => windowOfLength(seconds, nowSeconds),
});
const MONTH: CalendarPeriod = {
  unit: 'MONTH',
  timeZone: 'UTC',
  weekStart: 'monday',
  monthStart: 1,
  multiplier: 1,
};
const calendar = (more: Partial<CalendarPeriod> = {}) => ({
  ...windows(2_592_000),
  calendar: { ...MONTH, ...more },
});

it.each<[string, Partial<RuleLimit>]>([
  ['100 per minute', {}],
  ['unlimited', { unlimited: true }],
  ['100 per 5 minutes', windows(300)],
  ['100 per 90 seconds', windows(90)],
  ['100 per 5 minutes, bursts of 20', algorithm('gcra', { burst: 20 })],
  ['100 per 5 minutes, bursts of 100', algorithm('gcra')],
  [
    '100 per 5 minutes, bursts of 100, refused hits are charged',
    algorithm('gcra', { chargeDenied: true }),
  ],
  ['100 per 5 minutes, sliding window', algorithm('sliding_window')],
  [
    '100 per minute, refused hits are not charged',
    algorithm('fixed_window', { chargeDenied: false }),
  ],
  ['100 per calendar month', calendar()],
  [
    '100 per calendar month in Europe/Berlin from day 15',
    calendar({ timeZone: 'Europe/Berlin', monthStart: 15 }),
  ],
  ['100 per 3 calendar months', calendar({ multiplier: 3 })],
  ['100 per calendar week from sunday', calendar({ unit: 'WEEK', weekStart: 'sunday' })],
  ['100 per calendar week', calendar({ unit: 'WEEK' })],
])('a limit reads %s', (words, more) => {
  expect(describeLimit({ ...HUNDRED, ...more })).toBe(words);
});

it.each<[number, Partial<RuleLimit>]>([
  [60, {}],
  [300, algorithm('gcra')],
  [90, windows(90)],
])('a period takes %d seconds', (seconds, more) => {
  expect(periodSecondsAt({ ...HUNDRED, ...more }, 1_700_000_125)).toBe(seconds);
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
