/** A date of the Gregorian calendar. */
export interface CivilDate {
  readonly year: number;
  /** 1 to 12. */
  readonly month: number;
  /** 1 to 31. */
  readonly day: number;
}

const DAYS_OF_400_YEARS = 146_097;

/** From March 1 of the year 0 to 1970-01-01. A year that begins in March has its leap day at the end. */
const DAYS_TO_1970 = 719_468;

/** Days from 1970-01-01 to a date. */
export function toDayNumber({ year, month, day }: CivilDate): number {
  const marchYear = month > 2 ? year : year - 1;
  const monthsFromMarch = (month + 9) % 12;
  const dayOfYear = Math.floor((153 * monthsFromMarch + 2) / 5) + day - 1;
  const leapDays =
    Math.floor(marchYear / 4) - Math.floor(marchYear / 100) + Math.floor(marchYear / 400);
  return marchYear * 365 + leapDays + dayOfYear - DAYS_TO_1970;
}

/** The date of a day number, counted from 1970-01-01. */
export function toCivilDate(dayNumber: number): CivilDate {
  const days = dayNumber + DAYS_TO_1970;
  const era = Math.floor(days / DAYS_OF_400_YEARS);
  const dayOfEra = days - era * DAYS_OF_400_YEARS;
  const leapDays =
    Math.floor(dayOfEra / 1_460) - Math.floor(dayOfEra / 36_524) + Math.floor(dayOfEra / 146_096);
  const yearOfEra = Math.floor((dayOfEra - leapDays) / 365);
  const dayOfYear =
    dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const monthsFromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * monthsFromMarch + 2) / 5) + 1;
  const month = monthsFromMarch < 10 ? monthsFromMarch + 3 : monthsFromMarch - 9;
  return { year: era * 400 + yearOfEra + (month > 2 ? 0 : 1), month, day };
}
