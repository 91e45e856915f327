import type { Limiter, KindRange, KindWords } from './kind';

/** Bounds of kinds that count in ticks; a limit twice as large still counts exactly. */
export const ROLLING_RANGE: KindRange = {
  maxLimit: 50_000_000,
  maxPeriodSeconds: 90_000_000,
  hasCalendar: false,
};

/** Windows charge refused hits, these kinds do not: only the opposite is mentioned. */
export function rollingWords<N extends string>(name: N, own: (limiter: Limiter) => string) {
  const ofLimiter = (limiter: Limiter): readonly string[] =>
    limiter.chargeDenied ? [own(limiter), 'refused hits are charged'] : [own(limiter)];
  return { name, feature: `algorithm: ${name}`, ofLimiter } satisfies KindWords;
}

/** The numbers of a value that consists of whole numbers separated by single spaces. */
export function numbersIn(value: string): readonly number[] {
  return /^\d+(?: \d+)*$/.test(value) ? value.split(' ').map(Number) : [];
}
