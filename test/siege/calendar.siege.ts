import { createCalendar } from '../../src/core/windows/calendar';
import { offsetsOf, type FindZone, type ZoneData } from '../../src/core/windows/zone-data';
import { packageZones } from '../../src/zoneinfo/package-zones';
import { walkCalendarDays, type CalendarDays } from '../support/calendar-days';

const FROM = 0;
const TO = Date.UTC(2100, 0, 1) / 1_000;

/** Days around a change of the clock that are looked at; all others are as long as the one before. */
const DAYS_AROUND = 3 * 86_400;

/** Zones whose clocks have left out days, shown dates twice or moved by other steps than a quarter of an hour. */
const HARD = new Set([
  'Pacific/Apia',
  'Pacific/Kiritimati',
  'Pacific/Kwajalein',
  'America/St_Johns',
  'America/Goose_Bay',
  'America/Moncton',
  'Antarctica/Casey',
  'Africa/Monrovia',
  'Asia/Beirut',
  'America/Havana',
  'Europe/Berlin',
]);

/** All zones take some three minutes: `npm run test:zones`. */
const ZONES = Intl.supportedValuesOf('timeZone').filter(
  (zone, at) => process.env['ALL_ZONES'] === 'true' || HARD.has(zone) || at % 20 === 0,
);

it.each(ZONES)('calendar days tile the time line from 1970 to 2100 in %s', (timeZone) => {
  expectTiles(timeZone, walkCalendarDays(timeZone, FROM, TO));
});

const ofPackage = packageZones();

it.each(ZONES.filter((zone) => ofPackage.nameOf?.(zone) !== undefined))(
  'so they do by the data of the package in %s',
  (timeZone) => {
    const data = ofPackage.read(timeZone) as ZoneData;
    const days = walkCalendarDays(timeZone, FROM, TO, offsetsOf(data).at);
    const origin = { source: 'package', release: ofPackage.release } as const;
    expectTiles(timeZone, days, () => ({ data, origin }));
  },
);

function expectTiles(
  timeZone: string,
  { starts, changes }: CalendarDays,
  findZone?: FindZone,
): void {
  const filled = starts.filter((start, index) => start !== starts[index + 1]);
  const windowAt = createCalendar(findZone)({
    unit: 'DAY',
    timeZone,
    weekStart: 'monday',
    monthStart: 1,
    multiplier: 1,
  });
  let change = 0;
  for (let index = 0; index + 1 < filled.length; index += 1) {
    const start = filled[index] as number;
    while ((changes[change] ?? Infinity) < start - DAYS_AROUND) change += 1;
    const isNear = (changes[change] ?? Infinity) < start + DAYS_AROUND;
    // The others are sampled: one in fifty.
    if (!isNear && index % 50 !== 0) continue;
    const { startSeconds, endSeconds } = windowAt(start);
    const end = filled[index + 1];
    if (
      startSeconds !== start ||
      endSeconds !== end ||
      windowAt(endSeconds - 1) !== windowAt(start)
    )
      throw new Error(
        `the day from ${String(start)} to ${String(end)} is ${String(startSeconds)} to ${String(endSeconds)}`,
      );
  }
  expect(filled.length).toBeGreaterThan(47_000);
}
