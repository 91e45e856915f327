import { limitFields } from '../../../../src/core/explain/limit-fields';
import { listRules } from '../../../../src/core/explain/list-rules';
import { compileRules } from '../../../../src/core/rules/compile';
import { dumpRules, listLimits } from '../../../../src/core/rules/dump';
import { findMeetingDomains } from '../../../../src/core/rules/find-meeting-domains';
import { compareRules } from '../../../../src/simulate/compare-runs';
import { toRuleTree } from '../../../../src/stats/dashboard/rule-tree';
import { parseText } from '../../../support/rule-texts';

const TEXT = `domain: shop
charge: together
descriptors:
  - key: user
    rate_limits:
      - {unit: second, requests_per_unit: 10}
      - {unit: hour, requests_per_unit: 1000, algorithm: sliding_window, name: hourly}
    reserve:
    descriptors:
      - key: path
        rate_limit: {algorithm: in_flight, requests_per_unit: 5}
`;
const rulesOf = (text: string) => compileRules(parseText(text).domains);
const RULES = rulesOf(TEXT);
const LIST = '10 per second and 1,000 per hour (sliding window), reservations of up to 10 minutes';
const SLOTS = 'at most 5 in flight, reservations of up to 10 minutes';

describe('a rule with several limits and reservations', () => {
  it('is one line of the dump, in words, without its reservations', () => {
    expect(dumpRules(RULES)).toEqual([
      `shop.user: unit=SECOND requests_per_unit=10 unit=HOUR requests_per_unit=1000, shadow_mode: false, quota_mode: false, limit: ${LIST}, charge: together`,
      `shop.user.path: unit=UNKNOWN requests_per_unit=5, shadow_mode: false, quota_mode: false, limit: ${SLOTS}, charge: together`,
    ]);
    expect(RULES.limitCount).toBe(2);
  });

  it('is listed once, with each of its limits', () => {
    const flags = { shadowMode: false, quotaMode: false, unlimited: false, replaces: [] };
    expect([...listRules(RULES, 0, 10)]).toEqual([
      expect.objectContaining({
        id: 0,
        path: ['user'],
        charge: 'together',
        limit: {
          requestsPerUnit: 1000,
          unit: 'HOUR',
          algorithm: 'sliding_window',
          words: LIST,
          limits: [
            {
              name: 'second',
              requestsPerUnit: 10,
              unit: 'SECOND',
              algorithm: 'fixed_window',
              words: '10 per second',
            },
            {
              name: 'hourly',
              requestsPerUnit: 1000,
              unit: 'HOUR',
              algorithm: 'sliding_window',
              words: '1,000 per hour, sliding window',
            },
          ],
          ...flags,
        },
      }),
      expect.objectContaining({
        id: 1,
        path: ['user', 'path'],
        limit: {
          requestsPerUnit: 5,
          unit: 'UNKNOWN',
          algorithm: 'in_flight',
          words: SLOTS,
          limits: [
            {
              name: 'in_flight',
              requestsPerUnit: 5,
              unit: 'UNKNOWN',
              algorithm: 'in_flight',
              words: 'at most 5 in flight',
            },
          ],
          ...flags,
        },
      }),
    ]);
  });

  it('is a level of the page, whose domain says how it charges', () => {
    const { domains, unlisted, limits } = toRuleTree(RULES);
    expect(unlisted).toBe(0);
    expect(limits).toHaveLength(2);
    expect(domains).toMatchObject([
      {
        name: 'shop',
        charge: 'together',
        rules: [
          {
            key: 'user',
            limit: { words: LIST },
            children: [{ key: 'path', limit: { words: SLOTS }, children: [] }],
          },
        ],
      },
    ]);
  });

  it('keeps its reservations and other combinations of limits under its own name', () => {
    const [place] = listLimits(RULES);
    const budget = place?.limit.budget;
    expect(budget?.withEntries([undefined, budget.entries[1]])?.ofRule).toBe(place?.limit);
    expect(limitFields(place?.limit as NonNullable<typeof place>['limit']).name).toBeUndefined();
  });

  it('meets no other domain in a counter key', () => {
    const meets = (rule: string) =>
      findMeetingDomains([
        ...parseText(`domain: a\ndescriptors: [{key: b_c, ${rule}}]`).domains,
        ...parseText(`domain: a_b\ndescriptors: [{key: c, ${rule}}]`).domains,
      ]).length;
    expect(meets('rate_limit: {unit: day, requests_per_unit: 1}')).toBe(1);
    expect(meets('rate_limits: [{unit: day, requests_per_unit: 1}]')).toBe(0);
  });

  it('is compared in words with what it was', () => {
    const second = TEXT.replace('requests_per_unit: 10}', 'requests_per_unit: 20}').replace(
      'charge: together\n',
      '',
    );
    expect(compareRules(RULES, rulesOf(second)).changedLimits).toEqual([
      {
        rule: 'shop.user',
        first: `${LIST}, charge: together`,
        second: LIST.replace('10 per', '20 per'),
      },
      { rule: 'shop.user.path', first: `${SLOTS}, charge: together`, second: SLOTS },
    ]);
  });
});
