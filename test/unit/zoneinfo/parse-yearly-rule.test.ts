import type { YearlyDay } from '../../../src/core/windows/zone-data';
import { parseYearlyRule } from '../../../src/zoneinfo/parse-tzif';

const HOUR = 3_600;
const weekday = (month: number, week: number, day: number): YearlyDay => ({
  kind: 'weekday',
  month,
  week,
  day,
});

describe('the last line of a TZif file', () => {
  it.each([
    ['UTC0', 0],
    ['JST-9', 9 * HOUR],
    ['<+0545>-5:45', 5 * HOUR + 2_700],
    ['<-02>+2', -2 * HOUR],
    ['LMT0:01:15', -75],
  ])('%s is one offset', (text, standard) => {
    expect(parseYearlyRule(text)).toEqual({ standard, yearly: undefined });
  });

  it.each([
    ['CET-1CEST,M3.5.0,M10.5.0/3', 1, 2, weekday(3, 5, 0), 2, weekday(10, 5, 0), 3],
    ['<+1030>-10:30<+11>-11,M10.1.0,M4.1.0', 10.5, 11, weekday(10, 1, 0), 2, weekday(4, 1, 0), 2],
    ['IST-1GMT0,M10.5.0,M3.5.0/1', 1, 0, weekday(10, 5, 0), 2, weekday(3, 5, 0), 1],
    ['<-02>2<-01>,M3.5.0/-1,M10.5.0/0', -2, -1, weekday(3, 5, 0), -1, weekday(10, 5, 0), 0],
    [
      'EST5EDT,J60/+0:00:00,365/167',
      -5,
      -4,
      { kind: 'day-without-leap', day: 60 },
      0,
      { kind: 'day', day: 365 },
      167,
    ],
  ] as [string, number, number, YearlyDay, number, YearlyDay, number][])(
    '%s changes each year',
    (text, standard, summer, begins, beginsAt, ends, endsAt) => {
      expect(parseYearlyRule(text)).toEqual({
        standard: standard * HOUR,
        yearly: {
          ...{ standard: standard * HOUR, summer: summer * HOUR },
          begins: { day: begins, seconds: beginsAt * HOUR },
          ends: { day: ends, seconds: endsAt * HOUR },
        },
      });
    },
  );

  it.each([
    ...['', 'CET', 'C-1', 'CET-25', 'CET-1:60', 'CET-1CEST', 'CET-1CEST,M3.5.0'],
    ...['CET-1CEST,M13.5.0,M10.5.0', 'CET-1CEST,M3.6.0,M10.5.0', 'CET-1CEST,M3.5.7,M10.5.0'],
    ...['CET-1CEST,J0,J5', 'CET-1CEST,J366,J5', 'CET-1CEST,366,5', 'CET-1CEST,M3.5.0/168,J5'],
    ...['CET-1CEST,M3.5.0/,J5', 'CET-1CEST,M3.5.0,J5,', 'CET-1CEST,M3.5.0/2:99,J5', 'CET-1\n'],
  ])('%j is no rule', (text) => {
    expect(() => parseYearlyRule(text)).toThrow(/^its last line is ".*": expected a rule such as/);
  });

  it('has no offset that no zone has', () => {
    for (const text of ['CET-17', 'CET-16CEST,J1,J5', 'CET-1CEST-17,J1,J5'])
      expect(() => parseYearlyRule(text)).toThrow('expected at most 16 hours');
  });
});
