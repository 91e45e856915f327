import type { RuleLimit } from '../rules/rules';
import { UNIT_SECONDS, windowStart, type Unit } from '../units';

/** The current window of one unit. */
export interface Window {
  /** `_<start in Unix seconds>`: the end of every counter key. */
  readonly keyEnd: string;
  readonly endSeconds: number;
  readonly secondsUntilReset: number;
}

/** The window of each unit at one whole second. */
export interface Windows extends Readonly<Record<Unit, Window>> {
  readonly second: number;
}

/** The window in which a limit counts. */
export function windowOf(
  { unit, windowAt }: RuleLimit,
  windows: Windows,
): Pick<Window, 'keyEnd' | 'endSeconds'> {
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
    const start = windowStart(unit, second);
    const endSeconds = start + UNIT_SECONDS[unit];
    return { keyEnd: `_${String(start)}`, endSeconds, secondsUntilReset: endSeconds - second };
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
