import { UNIT_SECONDS } from '../units';
import { toUnitCount, type UnitCount } from '../windows/length';
import type { RuleLimit } from './rules';

type Timed = Pick<RuleLimit, 'unit' | 'algorithm' | 'windowAt' | 'calendar'>;

const MICROS_PER_SECOND = 1_000_000;

/** The true length in seconds of the period that holds this moment; months of the calendar differ. */
export function periodSecondsAt(limit: Timed, nowSeconds: number): number {
  const { algorithm, windowAt, unit } = limit;
  if (algorithm?.keyEnd !== undefined)
    return (algorithm.periodTicks * algorithm.tickMicros) / MICROS_PER_SECOND;
  if (windowAt === undefined) return UNIT_SECONDS[unit];
  const { startSeconds, endSeconds } = windowAt(nowSeconds);
  return endSeconds - startSeconds;
}

/** A rule's period in the words of its name: one minute, 5 minutes, 3 months. */
export function periodOf(limit: Timed): UnitCount {
  const { calendar } = limit;
  if (calendar !== undefined) return { unit: calendar.unit, count: calendar.multiplier };
  return toUnitCount(periodSecondsAt(limit, 0));
}

/** `minute`, `5 minutes`. */
export function periodText({ unit, count }: UnitCount): string {
  const word = unit.toLowerCase();
  return count === 1 ? word : `${String(count)} ${word}s`;
}
