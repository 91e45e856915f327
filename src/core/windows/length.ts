import { UNIT_SECONDS, type Unit } from '../units';

/** A window in Unix seconds, its end excluded. */
export interface WindowSpan {
  readonly startSeconds: number;
  readonly endSeconds: number;
  /** The suffix of every counter key of this window. */
  readonly keyEnd: string;
}

/** The window that contains a moment in Unix seconds. */
export type WindowAt = (nowSeconds: number) => WindowSpan;

/** A length in the largest unit that divides it. */
export interface UnitCount {
  readonly unit: Unit;
  readonly count: number;
}

/** Seconds of a window of `multiplier` units (`unit_multiplier`). */
export function windowSeconds(unit: Unit, multiplier: number): number {
  return UNIT_SECONDS[unit] * multiplier;
}

/** The window of this length that contains a moment; its key ends as that of a unit of the same length. */
export function windowOfLength(lengthSeconds: number, nowSeconds: number): WindowSpan {
  const startSeconds = Math.floor(nowSeconds / lengthSeconds) * lengthSeconds;
  const endSeconds = startSeconds + lengthSeconds;
  return { startSeconds, endSeconds, keyEnd: `_${String(startSeconds)}` };
}

/** Caches the window until the clock leaves it: nearly every batch finds it by one comparison. */
export function keepWindow(find: WindowAt): WindowAt {
  let kept: WindowSpan = { startSeconds: 0, endSeconds: 0, keyEnd: '' };
  return (nowSeconds) => {
    if (nowSeconds >= kept.endSeconds || nowSeconds < kept.startSeconds) kept = find(nowSeconds);
    return kept;
  };
}

const UNITS_BY_LENGTH = (Object.keys(UNIT_SECONDS) as Unit[]).sort(
  (a, b) => UNIT_SECONDS[b] - UNIT_SECONDS[a],
);

/** 60 seconds are one minute, and 300 are five: rules of one length read the same, however they are written. */
export function toUnitCount(lengthSeconds: number): UnitCount {
  const isWhole = (unit: Unit): boolean => lengthSeconds % UNIT_SECONDS[unit] === 0;
  const unit = UNITS_BY_LENGTH.find(isWhole) ?? 'SECOND';
  return { unit, count: lengthSeconds / UNIT_SECONDS[unit] };
}
