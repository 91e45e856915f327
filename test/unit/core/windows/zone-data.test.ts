import { createCalendar } from '../../../../src/core/windows/calendar';
import {
  offsetsOf,
  originText,
  type FoundZone,
  type YearlyChanges,
  type ZoneData,
} from '../../../../src/core/windows/zone-data';

const HOUR = 3_600;
const secondOf = (time: string): number => Date.parse(time) / 1_000;
const at = (text: string) => secondOf(`${text}Z`);
const weekday = (month: number, week: number, day: number, seconds: number) => ({
  day: { kind: 'weekday' as const, month, week, day },
  seconds,
});

const LORD_HOWE: YearlyChanges = {
  standard: 10.5 * HOUR,
  summer: 11 * HOUR,
  begins: weekday(10, 1, 0, 2 * HOUR),
  ends: weekday(4, 1, 0, 2 * HOUR),
};

const yearlyAlone = (yearly: YearlyChanges): ZoneData => ({
  changes: [],
  offsets: [yearly.standard],
  yearly,
});

function windowsOf(data: ZoneData, unit: 'DAY' | 'YEAR' = 'DAY') {
  const found: FoundZone = { data, origin: { source: 'package', release: '2026f' } };
  const period = {
    unit,
    timeZone: 'A/B',
    weekStart: 'monday',
    monthStart: 1,
    multiplier: 1,
  } as const;
  return createCalendar(() => found)(period);
}

/** The changes within a year, by the offsets on both sides of them. */
function changesIn(year: number, data: ZoneData) {
  const { at: offsetAt, staysUntil } = offsetsOf(data);
  const found: string[] = [];
  const end = at(`${String(year + 1)}-01-01T00:00`);
  for (let second = staysUntil(at(`${String(year)}-01-01T00:00`)); second < end;) {
    const time = new Date(second * 1_000).toISOString().slice(0, 16);
    found.push(`${time} ${String(offsetAt(second - 1) / HOUR)} ${String(offsetAt(second) / HOUR)}`);
    second = staysUntil(second);
  }
  return found;
}

describe('the data of a zone', () => {
  it('have an offset before, between and after their changes', () => {
    const { at: offsetAt, staysUntil } = offsetsOf({
      changes: [100, 200, 300],
      offsets: [1, 2, 3, 4],
      yearly: undefined,
    });
    const moments = [-5, 99, 100, 199, 200, 299, 300, 9e9];
    expect(moments.map(offsetAt)).toEqual([1, 1, 2, 2, 3, 3, 4, 4]);
    expect(moments.map(staysUntil)).toEqual([100, 100, 200, 200, 300, 300, Infinity, Infinity]);
  });

  it('go on with their yearly changes from the last of the others on', () => {
    const change = at('2030-06-01T00:00');
    const data = { changes: [change], offsets: [0, 10.5 * HOUR], yearly: LORD_HOWE };
    const { at: offsetAt, staysUntil } = offsetsOf(data);
    expect(offsetAt(change - 1)).toBe(0);
    expect(staysUntil(0)).toBe(change);
    expect(staysUntil(change)).toBe(at('2030-10-05T15:30'));
    expect(offsetAt(at('2030-10-05T15:30'))).toBe(11 * HOUR);
  });

  it.each([
    [
      'begins and ends by weekdays of a week',
      LORD_HOWE,
      '2026-04-04T15:00 11 10.5',
      '2026-10-03T15:30 10.5 11',
    ],
    [
      'of last weekdays, in December too',
      { standard: 0, summer: HOUR, begins: weekday(2, 5, 0, 0), ends: weekday(12, 5, 4, HOUR) },
      ...['2026-02-22T00:00 0 1', '2026-12-31T00:00 1 0'],
    ],
    [
      'of days, February 29 counted in the first alone',
      {
        ...{ standard: 0, summer: HOUR },
        begins: { day: { kind: 'day', day: 59 }, seconds: 0 },
        ends: { day: { kind: 'day-without-leap', day: 59 }, seconds: 24 * HOUR },
      },
      ...['2026-02-28T23:00 1 0', '2026-03-01T00:00 0 1'],
    ],
    [
      'of days after February',
      {
        ...{ standard: 0, summer: -HOUR },
        begins: { day: { kind: 'day-without-leap', day: 60 }, seconds: 0 },
        ends: { day: { kind: 'day-without-leap', day: 365 }, seconds: -HOUR },
      },
      ...['2026-03-01T00:00 0 -1', '2026-12-31T00:00 -1 0'],
    ],
  ] as [string, YearlyChanges, ...string[]][])(
    'have summer time that %s',
    (_, yearly, ...changes) => {
      expect(changesIn(2026, yearlyAlone(yearly))).toEqual(changes);
    },
  );

  it('count February 29 by the day of the year, and not by the day without it', () => {
    const data = (kind: 'day' | 'day-without-leap', day: number): ZoneData =>
      yearlyAlone({
        ...{ standard: 0, summer: HOUR },
        begins: { day: { kind, day }, seconds: 0 },
        ends: weekday(10, 1, 0, 0),
      });
    expect(changesIn(2028, data('day', 59))[0]).toBe('2028-02-29T00:00 0 1');
    expect(changesIn(2028, data('day-without-leap', 59))[0]).toBe('2028-02-28T00:00 0 1');
    expect(changesIn(2028, data('day-without-leap', 60))[0]).toBe('2028-03-01T00:00 0 1');
  });

  it('may have summer time all year, which ends when it begins', () => {
    // RFC 9636 section 3.3: EST5EDT,0/0,J365/25.
    const data = yearlyAlone({
      ...{ standard: -5 * HOUR, summer: -4 * HOUR },
      begins: { day: { kind: 'day', day: 0 }, seconds: 0 },
      ends: { day: { kind: 'day-without-leap', day: 365 }, seconds: 25 * HOUR },
    });
    const { at: offsetAt } = offsetsOf(data);
    const newYear = at('2027-01-01T05:00');
    for (const second of [newYear - HOUR, newYear - 1, newYear, newYear + 1, newYear + 9e6])
      expect(offsetAt(second)).toBe(-4 * HOUR);
  });

  it('may change about New Year, in another year than that of the clock', () => {
    const data = yearlyAlone({
      ...{ standard: 0, summer: HOUR },
      begins: { day: { kind: 'day', day: 0 }, seconds: -2 * HOUR },
      ends: weekday(6, 1, 0, 0),
    });
    const { at: offsetAt, staysUntil } = offsetsOf(data);
    expect(offsetAt(at('2026-12-31T21:59'))).toBe(0);
    expect(staysUntil(at('2026-12-31T21:59'))).toBe(at('2026-12-31T22:00'));
    expect(offsetAt(at('2026-12-31T22:00'))).toBe(HOUR);
    expect(offsetAt(at('2027-01-01T00:30'))).toBe(HOUR);
  });
});

describe('calendar windows of data', () => {
  it('are 23.5 and 24.5 hours long where the clock moves by half an hour', () => {
    const days = windowsOf(yearlyAlone(LORD_HOWE));
    const hours = (time: string): number => {
      const { startSeconds, endSeconds } = days(at(time));
      return (endSeconds - startSeconds) / HOUR;
    };
    expect(hours('2026-04-04T14:00')).toBe(24.5);
    expect(hours('2026-10-03T14:00')).toBe(23.5);
    expect(hours('2026-07-01T00:00')).toBe(24);
  });

  it('are the same far from any change', () => {
    const days = windowsOf({ changes: [], offsets: [3 * HOUR], yearly: undefined });
    const { startSeconds, endSeconds } = days(at('2026-07-01T12:00'));
    expect([startSeconds, endSeconds]).toEqual([at('2026-06-30T21:00'), at('2026-07-01T21:00')]);
  });

  it('are found without end in years to come', () => {
    const years = windowsOf(yearlyAlone(LORD_HOWE), 'YEAR');
    const { startSeconds, endSeconds } = years(at('2826-07-01T00:00'));
    expect([startSeconds, endSeconds]).toEqual([at('2825-12-31T13:00'), at('2826-12-31T13:00')]);
  });
});

it('the source of data is named by who brought them', () => {
  expect(originText({ source: 'package', release: '2026f' })).toBe('2026f of Weir');
  expect(originText({ source: 'system', release: '2025b' })).toBe('2025b of the system');
  expect(originText({ source: 'runtime', release: undefined })).toBe('unknown of Node');
});
