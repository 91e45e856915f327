/**
 * A second implementation of calendar days: it goes through time from one change of a zone's clock to the next, and a day
 * starts when its date is shown for the first time.
 */
export interface CalendarDays {
  /** Where each local day starts, in Unix seconds, from the first day on; a day that was left out starts with the next. */
  readonly starts: readonly number[];
  /** Days from 1970-01-01 of the first start. */
  readonly firstDay: number;
  /** Where the clock of the zone was changed. */
  readonly changes: readonly number[];
}

const DAY = 86_400;

/** By default the offsets are those of the runtime. */
export function walkCalendarDays(
  timeZone: string,
  from: number,
  to: number,
  offsetAt = offsets(timeZone),
): CalendarDays {
  const starts: number[] = [];
  const changes: number[] = [];
  let latest = Math.floor((from + offsetAt(from)) / DAY);
  const firstDay = latest + 1;
  const pass = (start: number, end: number): void => {
    const offset = offsetAt(start);
    const last = Math.floor((end - 1 + offset) / DAY);
    for (; latest < last; latest += 1) starts.push(Math.max(start, (latest + 1) * DAY - offset));
  };
  for (let at = from; at < to; at += DAY) {
    let start = at;
    while (offsetAt(start) !== offsetAt(at + DAY)) {
      const high = changeIn(offsetAt, start, at + DAY);
      pass(start, high);
      changes.push(high);
      start = high;
    }
    pass(start, at + DAY);
  }
  return { starts, firstDay, changes };
}

/** The first second after `from` that has another offset. */
function changeIn(offsetAt: (second: number) => number, from: number, to: number): number {
  let [low, high] = [from, to];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetAt(middle) === offsetAt(from)) low = middle;
    else high = middle;
  }
  return high;
}

function offsets(timeZone: string): (second: number) => number {
  const format = new Intl.DateTimeFormat('sv-SE', {
    timeZone,
    dateStyle: 'short',
    timeStyle: 'medium',
  });
  return (second) => {
    const [date, time] = format.format(second * 1_000).split(' ');
    return Date.parse(`${String(date)}T${String(time)}Z`) / 1_000 - second;
  };
}
