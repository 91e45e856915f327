import type { RuleLimit } from '../rules/rules';
import { UNIT_SECONDS, windowStart, type Unit } from '../units';
import type { WindowSpan } from '../windows/length';

export interface Window extends WindowSpan {
  readonly secondsUntilReset: number;
}

/** The window of each unit at one second. */
export interface Windows extends Readonly<Record<Unit, Window>> {
  readonly second: number;
}

export function windowOf({ unit, windowAt }: RuleLimit, windows: Windows): WindowSpan {
  return windowAt === undefined ? windows[unit] : windowAt(windows.second);
}

export function secondsUntilReset({ unit, windowAt }: RuleLimit, windows: Windows): number {
  if (windowAt === undefined) return windows[unit].secondsUntilReset;
  return windowAt(windows.second).endSeconds - windows.second;
}

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
    const startSeconds = windowStart(unit, second);
    const endSeconds = startSeconds + UNIT_SECONDS[unit];
    const keyEnd = `_${String(startSeconds)}`;
    return { keyEnd, startSeconds, endSeconds, secondsUntilReset: endSeconds - second };
  };
  return {
    second,
    SECOND: of('SECOND'),
    MINUTE: of('MINUTE'),
    HOUR: of('HOUR'),
    DAY: of('DAY'),
    WEEK: of('WEEK'),
    MONTH: of('MONTH'),
    YEAR: of('YEAR'),
  };
}
