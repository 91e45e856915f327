import { compileInSlices, compileRules } from '../../../../src/core/rules/compile';
import type { DomainDefinition } from '../../../../src/core/rules/definition';
import { limitFields } from '../../../../src/core/explain/limit-fields';
import { dumpRules, listLimits, type LimitPlace } from '../../../../src/core/rules/dump';
import { budgetOf } from '../../../support/budgets';
import { definitionsOf, type RuleSketch } from '../../../support/rules';

const domainOf = (
  domain: string,
  sketches: readonly RuleSketch[],
  more: Partial<DomainDefinition> = {},
): DomainDefinition => ({ domain, rules: definitionsOf(sketches), ...more });

const minute = { unit: 'MINUTE', requestsPerUnit: 10 } as const;
const hour = { unit: 'HOUR', requestsPerUnit: 20 } as const;
const day = { timeZone: 'UTC', weekStart: 'monday', monthStart: 1 } as const;
const limitsFrom = { key: 'limits', refreshMs: 1_000 };

describe('what the rules say together', () => {
  const plain = domainOf('a', [{ key: 'k', rules: [{ key: 'l', limit: minute }] }]);
  const NOTHING = { limitCount: 1, hasLimitsFrom: false, hasTogether: false, hasBudgets: false };

  it.each([
    ['one limit and nothing else', [plain], {}],
    [
      'limits of all domains',
      [plain, domainOf('b', [{ key: 'k', limit: hour }])],
      { limitCount: 2 },
    ],
    [
      'a domain that charges together',
      [plain, { ...plain, domain: 'b', isChargedTogether: true }],
      { limitCount: 2, hasTogether: true },
    ],
    ['domains that say they do not', [{ ...plain, isChargedTogether: false }], {}],
    [
      'limits of values',
      [domainOf('a', [{ key: 'k', limit: { ...minute, limitsFrom } }])],
      { hasLimitsFrom: true },
    ],
    [
      'limits of values in a list',
      [domainOf('a', [{ key: 'k', ...budgetOf([minute, { ...hour, limitsFrom }]) }])],
      { hasLimitsFrom: true, hasBudgets: true },
    ],
    [
      'a list, which is one limit',
      [domainOf('a', [{ key: 'k', ...budgetOf([minute, hour]) }])],
      { hasBudgets: true },
    ],
    ['none', [], { limitCount: 0 }],
  ])('is found: %s', (_, domains, expected) => {
    expect(compileRules(domains)).toMatchObject({ ...NOTHING, ...expected });
  });
});

it('puts each rule below its parent', () => {
  const sketches = [
    { key: 'a', rules: [{ key: 'b', rules: [{ key: 'c', limit: minute }] }] },
    { key: 'd', limit: hour },
  ];
  expect(
    dumpRules(compileRules([domainOf('d', sketches)])).map((line) => line.split(':')[0]),
  ).toEqual(['d.a.b.c', 'd.d']);
});

describe('a pause', () => {
  const pausesOf = (sketches: readonly RuleSketch[], sliceSize: number): number =>
    [...compileInSlices([domainOf('d', sketches)], sliceSize)].length;
  const of = (count: number, rule: Omit<RuleSketch, 'key'>) =>
    Array.from({ length: count }, (_, at) => ({ ...rule, key: `k${String(at)}` }));
  const calendar = { ...minute, unit: 'DAY', calendar: day } as const;

  it.each([
    ['none for fewer entries', 4, { limit: minute }, 5, 0],
    ['after so many entries', 5, { limit: minute }, 5, 1],
    ['after each of them', 5, { limit: minute }, 1, 5],
    ['after so many limits of lists', 5, budgetOf([minute, hour]), 5, 1],
    ['after so many entries of all levels', 5, { rules: [{ key: 'l', limit: minute }] }, 6, 1],
    ['after each entry of all levels', 2, { rules: [{ key: 'l' }] }, 1, 4],
    [
      'after each calendar, whose first window costs as much as many',
      3,
      { limit: calendar },
      100,
      3,
    ],
    ['after each list with one', 3, budgetOf([minute, calendar]), 100, 3],
    ['none after a calendar in longer slices', 1, { limit: calendar }, 101, 0],
  ])('comes: %s', (_, count, rule, sliceSize, pauses) => {
    expect(pausesOf(of(count, rule), sliceSize)).toBe(pauses);
  });

  it('changes nothing of what is compiled', () => {
    const domains = [domainOf('d', of(3, { rules: [{ key: 'l', limit: minute }] }))];
    const compiling = compileInSlices(domains, 1);
    let step = compiling.next();
    while (step.done !== true) step = compiling.next();
    expect(step.value).toEqual(compileRules(domains));
  });
});

it('compiles no rules with secret keys without what hides them', () => {
  const secret = domainOf('d', [{ key: 'k', secret: 'hash' as never }]);
  expect(() => compileRules([secret])).toThrow('rules with hash_value are compiled without tokens');
});

describe('time zones', () => {
  const found: string[] = [];
  const findZone = (timeZone: string) => {
    found.push(timeZone);
    // A zone nine hours east of UTC, by whatever name.
    const data = { changes: [], offsets: [9 * 3_600], yearly: undefined };
    const source = timeZone === 'Asia/Tokyo' ? 'runtime' : 'package';
    return { data, origin: { source, release: '2026f' } } as const;
  };
  const calendar = (timeZone: string) =>
    ({ ...minute, unit: 'DAY', calendar: { ...day, timeZone } }) as const;
  const sketches = [
    { key: 'a', limit: calendar('Europe/Berlin') },
    { key: 'b', limit: { ...calendar('Europe/Berlin'), unit: 'WEEK' } as const },
    { key: 'c', ...budgetOf([minute, calendar('Europe/Berlin'), calendar('Asia/Tokyo')]) },
    { key: 'd', limit: minute },
  ];
  const domains = [domainOf('d', sketches)];

  it('are found once each, and said where a rule has a calendar', () => {
    const rules = compileRules(domains, { findZone });
    expect(found).toEqual(['Europe/Berlin', 'Asia/Tokyo']);
    expect([...(rules.zones?.keys() ?? [])]).toEqual(found);
    const ends = dumpRules(rules).map(
      (line) => /time_zone_data.*|quota_mode: false$/.exec(line)?.[0],
    );
    expect(ends).toEqual([
      'time_zone_data: 2026f of Weir',
      'time_zone_data: 2026f of Weir',
      'time_zone_data: 2026f of Weir and 2026f of Node',
      'quota_mode: false',
    ]);
  });

  it('say where periods begin', () => {
    const [{ limit }] = listLimits(compileRules(domains, { findZone })) as [LimitPlace];
    expect(limit.windowAt?.(0).endSeconds).toBe(15 * 3_600);
    expect(limitFields(limit).timeZoneData).toBe('2026f of Weir');
  });

  it('are those of the runtime, and not said, where nothing else is', () => {
    const rules = compileRules(domains);
    expect([rules.zones?.size, dumpRules(rules).join()]).toEqual([
      0,
      expect.not.stringContaining('time_zone_data'),
    ]);
    const [{ limit }] = listLimits(rules) as [LimitPlace];
    expect(limit.windowAt?.(0).endSeconds).toBe(23 * 3_600);
    expect(limitFields(limit)).not.toHaveProperty('timeZoneData');
  });
});
