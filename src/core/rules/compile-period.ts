import { UNIT_SECONDS, type Unit } from '../units';
import { createCalendar, type CalendarPeriod, type CalendarUnit } from '../windows/calendar';
import {
  keepWindow,
  toUnitCount,
  windowOfLength,
  windowSeconds,
  type WindowAt,
} from '../windows/length';
import type { FindZone } from '../windows/zone-data';
import type { LimitDefinition } from './definition';

/** The compiled period of a rule. */
export interface Period {
  /** The largest unit that divides it. */
  readonly unit: Unit;
  readonly multiplier: number;
  /** Undefined: windows of a calendar, whose lengths differ. */
  readonly seconds: number | undefined;
  /** Undefined: the period is one `unit`, aligned to 1970. */
  readonly windowAt: WindowAt | undefined;
  /** Undefined: not a calendar period. */
  readonly calendar: CalendarPeriod | undefined;
}

const PLAIN_PERIODS: Readonly<Record<Unit, Period>> = {
  SECOND: plainPeriod('SECOND'),
  MINUTE: plainPeriod('MINUTE'),
  HOUR: plainPeriod('HOUR'),
  DAY: plainPeriod('DAY'),
  WEEK: plainPeriod('WEEK'),
  MONTH: plainPeriod('MONTH'),
  YEAR: plainPeriod('YEAR'),
};

function plainPeriod(unit: Unit): Period {
  const seconds = UNIT_SECONDS[unit];
  return { unit, multiplier: 1, seconds, windowAt: undefined, calendar: undefined };
}

/** The periods of one rule set: rules with equal periods share the last window found. */
export function createPeriods(findZone?: FindZone): (limit: LimitDefinition) => Period {
  const calendarWindows = createCalendar(findZone);
  const byLength = new Map<number, WindowAt>();

  const windowsOf = (seconds: number): WindowAt => {
    const known = byLength.get(seconds);
    if (known !== undefined) return known;
    const windowAt = keepWindow((nowSeconds) => windowOfLength(seconds, nowSeconds));
    byLength.set(seconds, windowAt);
    return windowAt;
  };

  return ({ unit = 'SECOND', unitMultiplier = 1, calendar }) => {
    if (calendar !== undefined) {
      // The parser accepts no other unit beside `calendar`.
      const period = {
        ...calendar,
        unit: unit as CalendarUnit,
        multiplier: unitMultiplier,
        origin: findZone?.(calendar.timeZone).origin,
      };
      const windowAt = calendarWindows(period);
      return { unit, multiplier: unitMultiplier, seconds: undefined, windowAt, calendar: period };
    }
    if (unitMultiplier === 1) return PLAIN_PERIODS[unit];
    const seconds = windowSeconds(unit, unitMultiplier);
    const { unit: named, count } = toUnitCount(seconds);
    const windowAt = count === 1 ? undefined : windowsOf(seconds);
    return { unit: named, multiplier: count, seconds, windowAt, calendar };
  };
}
