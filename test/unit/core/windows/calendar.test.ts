import fc from 'fast-check';
import { createCalendar, type CalendarPeriod } from '../../../../src/core/windows/calendar';
import { toCivilDate, toDayNumber } from '../../../../src/core/windows/zone-data';
import { isTimeZone } from '../../../../src/core/windows/time-zone';
import { walkCalendarDays } from '../../../support/calendar-days';

const period = (unit: CalendarPeriod['unit'], more: Partial<CalendarPeriod> = {}) => ({
  unit,
  timeZone: 'UTC',
  weekStart: 'monday' as const,
  monthStart: 1,
  multiplier: 1,
  ...more,
});
const in_ = (timeZone: string) => ({ timeZone });
const secondOf = (time: string): number => Date.parse(time) / 1_000;
const MONTH = period('MONTH');

describe('a calendar window', () => {
  it.each([
    ['2026-11-22T12:00Z', period('DAY'), 1_795_305_600, 24, 43_200],
    ['2026-11-22T23:30Z', period('DAY', in_('Europe/Berlin')), 1_795_388_400, 24, 84_600],
    ['2026-03-29T10:00Z', period('DAY', in_('Europe/Berlin')), 1_774_738_800, 23, 43_200],
    ['2026-10-25T10:00Z', period('DAY', in_('Europe/Berlin')), 1_792_879_200, 25, 46_800],
    ['2026-03-29T12:00Z', period('DAY', in_('Asia/Beirut')), 1_774_735_200, 23, 32_400],
    ['2026-11-22T20:00Z', period('DAY', in_('Asia/Kathmandu')), 1_795_371_300, 24, 80_100],
    ['2026-11-22T12:00Z', period('DAY', in_('Pacific/Kiritimati')), 1_795_341_600, 24, 79_200],
    ['2026-11-22T12:00Z', period('WEEK'), 1_794_787_200, 168, 43_200],
    ['2026-11-22T12:00Z', period('WEEK', { weekStart: 'sunday' }), 1_795_305_600, 168, 561_600],
    ['2026-11-22T12:00Z', period('WEEK', { weekStart: 'saturday' }), 1_795_219_200, 168, 475_200],
    ['2026-11-22T23:30Z', period('WEEK', in_('Europe/Berlin')), 1_795_388_400, 168, 603_000],
    ['2026-02-10T00:00Z', MONTH, 1_769_904_000, 672, 1_641_600],
    ['2028-02-10T00:00Z', MONTH, 1_832_976_000, 696, 1_728_000],
    ['2026-11-30T23:30Z', period('MONTH', in_('Europe/Berlin')), 1_796_079_600, 744, 2_676_600],
    ['2026-11-10T00:00Z', period('MONTH', { monthStart: 15 }), 1_792_022_400, 744, 432_000],
    ['2026-11-20T00:00Z', period('MONTH', { monthStart: 15 }), 1_794_700_800, 720, 2_160_000],
    ['2026-05-20T00:00Z', period('MONTH', { multiplier: 3 }), 1_775_001_600, 2_184, 3_628_800],
    ['2026-11-22T12:00Z', period('YEAR'), 1_767_225_600, 8_760, 3_412_800],
    ['2026-12-31T16:00Z', period('YEAR', in_('Asia/Tokyo')), 1_798_729_200, 8_760, 31_532_400],
  ])('at %s of %j starts at %d and lasts %d h', (time, of, start, hours, reset) => {
    const now = secondOf(time);
    const { startSeconds, endSeconds, keyEnd } = createCalendar()(of)(now);
    expect(startSeconds).toBe(start);
    expect((endSeconds - startSeconds) / 3_600).toBe(hours);
    expect(endSeconds - now).toBe(reset);
    expect(keyEnd).toBe(`_${String(start)}~c`);
  });

  it.each([
    ['begins a quarter with a billing day before', '2026-01-14T00:00Z', '2025-10-15T00:00Z'],
    ['begins a quarter with its billing day', '2026-01-15T00:00Z', '2026-01-15T00:00Z'],
  ])('%s', (_, time, start) => {
    const quarters = createCalendar()(period('MONTH', { multiplier: 3, monthStart: 15 }));
    expect(quarters(secondOf(time)).startSeconds).toBe(secondOf(start));
  });

  it('passes over a day that a zone left out', () => {
    const days = createCalendar()(period('DAY', in_('Pacific/Apia')));
    const before = days(secondOf('2011-12-30T09:59:59Z'));
    expect(before.endSeconds).toBe(secondOf('2011-12-30T10:00:00Z'));
    expect(days(before.endSeconds).startSeconds).toBe(before.endSeconds);
    expect(days(before.endSeconds).endSeconds).toBe(secondOf('2011-12-31T10:00:00Z'));
  });

  it('begins with the first of two midnights, and holds the second', () => {
    const days = (now: number) => createCalendar()(period('DAY', in_('America/St_Johns')))(now);
    // At 00:01 the clock went back to 23:01 of the day before.
    const start = secondOf('2010-11-07T02:30:00Z');
    for (const later of [0, 60, 1_800, 3_600]) expect(days(start + later).startSeconds).toBe(start);
    expect(days(start).endSeconds - start).toBe(25 * 3_600);
  });

  it('is kept until the clock leaves it, in either direction', () => {
    const days = createCalendar()(period('DAY'));
    const window = days(90_000.5);
    expect(days(172_799.9)).toBe(window);
    expect(days(172_800).startSeconds).toBe(172_800);
    expect(days(86_400)).toEqual(window);
  });

  it('is shared by rules of equal periods', () => {
    const calendar = createCalendar();
    expect(calendar({ ...MONTH })).toBe(calendar(MONTH));
    expect(calendar(period('MONTH', in_('Europe/Berlin')))).not.toBe(calendar(MONTH));
  });
});

describe('the days of a zone', () => {
  it.each([
    ['Pacific/Apia', 2_011],
    ['Pacific/Kiritimati', 1_994],
    ['Pacific/Kiritimati', 1_979],
    ['Pacific/Kwajalein', 1_993],
    ['America/St_Johns', 2_010],
    ['America/Goose_Bay', 2_010],
    ['America/Moncton', 2_006],
    ['America/Havana', 2_026],
    ['Antarctica/Casey', 2_010],
    ['Africa/Monrovia', 1_971],
    ['Africa/Cairo', 2_026],
    ['Asia/Beirut', 2_099],
    ['Australia/Lord_Howe', 2_026],
  ])('tile the time line in %s from the middle of %d on', (timeZone, year) => {
    const from = secondOf(`${String(year)}-06-01T00:00Z`);
    const { starts } = walkCalendarDays(timeZone, from, from + 300 * 86_400);
    const windowAt = createCalendar()(period('DAY', { timeZone }));
    const filled = starts.filter((start, index) => start !== starts[index + 1]);
    for (const [index, start] of filled.slice(0, -1).entries()) {
      const end = filled[index + 1] as number;
      const span = [start, end];
      for (const now of [start, start + 61, (start + end) / 2, end - 1]) {
        const { startSeconds, endSeconds } = windowAt(now);
        expect([startSeconds, endSeconds]).toEqual(span);
      }
    }
  });

  it('tile the time line in every zone, at any time from 1970 to 2100', () => {
    const zones = fc.constantFrom(...Intl.supportedValuesOf('timeZone'));
    const seconds = fc.integer({ min: 4 * 86_400, max: secondOf('2100-01-01T00:00Z') });
    fc.assert(
      fc.property(zones, seconds, (timeZone, now) => {
        const days = createCalendar()(period('DAY', { timeZone }));
        const { starts } = walkCalendarDays(timeZone, now - 3 * 86_400, now + 3 * 86_400);
        const start = starts.findLast((second) => second <= now);
        const { startSeconds, endSeconds } = days(now);
        expect(startSeconds).toBe(start);
        expect(endSeconds).toBe(starts.find((second) => second > now));
      }),
      { numRuns: 60 },
    );
  });
});

describe('a day number', () => {
  it.each([
    ['1970-01-01', 0],
    ['1969-12-31', -1],
    ['2000-02-29', 11_016],
    ['2100-03-01', 47_541],
  ])('of %s is %d', (date, number) => {
    const [year = 0, month = 0, day = 0] = date.split('-').map(Number);
    expect(toDayNumber({ year, month, day })).toBe(number);
    expect(toCivilDate(number)).toEqual({ year, month, day });
  });

  it('leads to the date that another calendar gives, and back', () => {
    fc.assert(
      fc.property(fc.integer({ min: -200_000, max: 200_000 }), (number) => {
        const date = toCivilDate(number);
        const other = new Date(number * 86_400_000);
        expect(date).toEqual({
          year: other.getUTCFullYear(),
          month: other.getUTCMonth() + 1,
          day: other.getUTCDate(),
        });
        expect(toDayNumber(date)).toBe(number);
      }),
    );
  });
});

describe('a time zone', () => {
  it.each([
    ['Europe/Berlin', true],
    ['UTC', true],
    ['Europe/Berlim', false],
    ['+01:00', false],
    ['', false],
  ])('%s is known: %s', (name, known) => {
    expect(isTimeZone(name)).toBe(known);
  });
});
