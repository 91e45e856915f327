/** A window unit. WEEK, MONTH and YEAR are 7, 30 and 365 days (behaviour.md §3.1). */
export type Unit = 'SECOND' | 'MINUTE' | 'HOUR' | 'DAY' | 'WEEK' | 'MONTH' | 'YEAR';

/** Length of a window of each unit, in seconds. */
export const UNIT_SECONDS: Readonly<Record<Unit, number>> = {
  SECOND: 1,
  MINUTE: 60,
  HOUR: 3_600,
  DAY: 86_400,
  WEEK: 604_800,
  MONTH: 2_592_000,
  YEAR: 31_536_000,
};

/** Numbers of the units in `RateLimitResponse.RateLimit.Unit`; overrides use the same (7 is WEEK). */
export const UNIT_NUMBERS: Readonly<Record<Unit, number>> = {
  SECOND: 1,
  MINUTE: 2,
  HOUR: 3,
  DAY: 4,
  MONTH: 5,
  YEAR: 6,
  WEEK: 7,
};

const UNITS_BY_NUMBER = new Map(
  (Object.keys(UNIT_NUMBERS) as Unit[]).map((unit) => [UNIT_NUMBERS[unit], unit]),
);

/** The unit with this protocol number; undefined for 0 (UNKNOWN) and numbers without a unit. */
export function unitOfNumber(number: number): Unit | undefined {
  return UNITS_BY_NUMBER.get(number);
}

/** The unit with this name in any letter case; undefined when there is none. */
export function unitOfName(name: string): Unit | undefined {
  const upper = name.toUpperCase();
  return Object.hasOwn(UNIT_SECONDS, upper) ? (upper as Unit) : undefined;
}

/** Start of the window that holds `nowSeconds` (Unix seconds): `floor(now / unit) * unit` (behaviour.md §3.2). */
export function windowStart(unit: Unit, nowSeconds: number): number {
  const seconds = UNIT_SECONDS[unit];
  return Math.floor(nowSeconds / seconds) * seconds;
}
