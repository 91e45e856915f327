import {
  offsetsOf,
  type FoundZone,
  type HasZone,
  type ZoneOffsets,
  toDayNumber,
} from './zone-data';

const DAY_SECONDS = 86_400;

/** No zone has been further from UTC than this since 1970. */
export const MAX_OFFSET_SECONDS = 16 * 3_600;

/** Two changes of a zone in the runtime's data are further apart than this. */
const STEP_SECONDS = 4 * 3_600;

/** A name that a newer release may add: all new zones are a place in an area. */
const NEW_NAME = /^[A-Za-z][\w+-]*(?:\/[\w+-]+)+$/;

/** Whether this runtime knows a zone of this IANA name, or other data have it. */
export function isKnownZone(name: string, hasZone: HasZone | undefined): boolean {
  return isTimeZone(name) || (NEW_NAME.test(name) && hasZone?.(name) === true);
}

/** Whether this runtime knows a zone of this IANA name. */
export function isTimeZone(name: string): boolean {
  // Offsets such as +01:00 are zones for newer runtimes, and refused by older ones.
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    formatOf(name);
    return true;
  } catch {
    return false;
  }
}

/** Without data it uses the runtime's, and throws a RangeError when that does not know the zone. */
export function createTimeZone(name: string, data?: FoundZone['data']) {
  const offsets = data === undefined ? offsetsOfRuntime(name) : offsetsOf(data);
  return {
    /** Days from 1970-01-01 to the local date at a Unix second. */
    dayAt: (second: number) => Math.floor((second + offsets.at(second)) / DAY_SECONDS),
    /**
     * The first second at which the local date is that day or, where the zone skips it, a later one. A clock that goes back over
     * midnight shows a date twice: the first time counts.
     */
    startOfDay: (dayNumber: number) => {
      const midnight = dayNumber * DAY_SECONDS;
      let from = midnight - MAX_OFFSET_SECONDS;
      for (;;) {
        const offset = offsets.at(from);
        const end = offsets.staysUntil(from);
        const start = Math.max(from, midnight - offset);
        if (start < end) return start;
        from = end;
      }
    },
  };
}

/** What the clocks of a place show. */
export type TimeZone = ReturnType<typeof createTimeZone>;

function offsetsOfRuntime(name: string): ZoneOffsets {
  const format = formatOf(name);

  const read = (second: number): number => {
    const shown = format
      .format(second * 1_000)
      .split(/\D+/)
      .map(Number);
    const [month = 0, day = 0, year = 0, hours = 0, minutes = 0, seconds = 0] = shown;
    const days = toDayNumber({ year, month, day });
    return days * DAY_SECONDS + hours * 3_600 + minutes * 60 + seconds - second;
  };

  // Each span begins where the previous ends: one of the two moments looked up last is looked up again.
  let [last, beforeLast] = [
    { second: NaN, offset: 0 },
    { second: NaN, offset: 0 },
  ];
  const offsetAt = (second: number): number => {
    if (last.second === second) return last.offset;
    if (beforeLast.second === second) return beforeLast.offset;
    beforeLast = last;
    last = { second, offset: read(second) };
    return last.offset;
  };

  /** The first second after `from` with the offset of `to`. */
  const changeBetween = (from: number, to: number): number => {
    const offset = offsetAt(from);
    let [before, after] = [from, to];
    while (after - before > 1) {
      const middle = Math.floor((before + after) / 2);
      if (offsetAt(middle) === offset) before = middle;
      else after = middle;
    }
    return after;
  };

  return {
    at: offsetAt,
    staysUntil: (from) => {
      const to = from + STEP_SECONDS;
      return offsetAt(to) === offsetAt(from) ? to : changeBetween(from, to);
    },
  };
}

function formatOf(timeZone: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat('en-US-u-ca-gregory-nu-latn', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
}
