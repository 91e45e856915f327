import type { RuleLimit } from '../../../../src/core/rules/rules';
import type { CalendarPeriod } from '../../../../src/core/windows/calendar';
import { LeaseTable, type LeasePlace } from '../../../../src/counters/leases/lease-table';
import { SOME_LIMIT } from '../../../support/rules';

const calendar: CalendarPeriod = {
  ...({ unit: 'WEEK', weekStart: 'monday', monthStart: 1, multiplier: 1 } as const),
  timeZone: 'Europe/Berlin',
};

const place = (more: Partial<RuleLimit>, start = 0): LeasePlace => {
  const rule = { ...SOME_LIMIT, ...more };
  const end = rule.calendar === undefined ? '' : `~c${String(rule.domain.length)}`;
  return { key: `shop_a_b_${String(start)}${end}`, rule };
};

const PLACES = [
  place({ unit: 'HOUR', periodSeconds: 3_600 }),
  place({ unit: 'HOUR', periodSeconds: 7_200 }),
  place({ unit: 'DAY', periodSeconds: 86_400 }),
  place({ calendar }),
  place({ calendar: { ...calendar, timeZone: 'Asia/Tokyo' } }),
  place({ calendar: { ...calendar, weekStart: 'sunday' } }),
  place({ calendar: { ...calendar, unit: 'MONTH' } }),
  place({ calendar: { ...calendar, unit: 'MONTH', monthStart: 15 } }),
  place({ calendar: { ...calendar, unit: 'MONTH', multiplier: 3 } }),
  place({ calendar, domain: 'shop_a' }),
];

it('keeps counters apart whose keys differ in their windows alone, and knows each in its next window', () => {
  const table = new LeaseTable(1_000_000);
  const added = PLACES.map((one) => table.add(one, 0));
  expect(table.size).toBe(PLACES.length);
  for (const [at, { rule }] of PLACES.entries())
    expect(table.get(place(rule, 604_800))).toBe(added[at]);
});
