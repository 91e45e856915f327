import { UNIT_SECONDS, windowStart, type Unit } from '../units';

/** The current window of one unit. */
export interface Window {
  /** `_<start in Unix seconds>`: the end of every counter key. */
  readonly keyEnd: string;
  readonly endSeconds: number;
  readonly secondsUntilReset: number;
}

/** The window of each unit at one whole second. */
export type Windows = Readonly<Record<Unit, Window>>;

/** Keeps the windows of the current second, since all batches of a second share them. */
export function createWindowTable(): (nowSeconds: number) => Windows {
  let second = NaN;
  let windows: Windows;
  return (nowSeconds) => {
    const now = Math.floor(nowSeconds);
    if (now !== second) {
      second = now;
      windows = windowsAt(now);
    }
    return windows;
  };
}

/** All windows at a whole Unix second (behaviour.md §3.2). */
export function windowsAt(second: number): Windows {
  const of = (unit: Unit): Window => {
    const start = windowStart(unit, second);
    const endSeconds = start + UNIT_SECONDS[unit];
    return { keyEnd: `_${String(start)}`, endSeconds, secondsUntilReset: endSeconds - second };
  };
  return {
    SECOND: of('SECOND'),
    MINUTE: of('MINUTE'),
    HOUR: of('HOUR'),
    DAY: of('DAY'),
    WEEK: of('WEEK'),
    MONTH: of('MONTH'),
    YEAR: of('YEAR'),
  };
}
