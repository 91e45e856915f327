import { limiterOf, type StateLimiter } from './limiters';
import fc from 'fast-check';
import { type AlgorithmName } from '../../src/core/kinds/kinds';
import { ROLLING_RANGE } from '../../src/core/kinds/rolling';

/** Small numbers, where things meet, and numbers up to the largest. */
const upTo = (most: number) =>
  fc.oneof(fc.integer({ min: 1, max: Math.min(most, 12) }), fc.integer({ min: 1, max: most }));

const PERIODS = fc.oneof(
  fc.constantFrom(1, 60, 300, 3_600, 86_400, 604_800, 2_592_000, 31_536_000),
  upTo(ROLLING_RANGE.maxPeriodSeconds),
);

/** Any rule of this algorithm, from one hit a second to 50,000,000 in years. */
export function rules(
  name: AlgorithmName,
  chargeDenied: fc.Arbitrary<boolean> = fc.constant(false),
): fc.Arbitrary<StateLimiter> {
  return fc
    .record({
      name: fc.constant(name),
      limit: upTo(ROLLING_RANGE.maxLimit),
      burst: fc.option(upTo(ROLLING_RANGE.maxLimit), { nil: undefined }),
      chargeDenied: name === 'fixed_window' ? fc.constant(false) : chargeDenied,
      periodSeconds: PERIODS,
    })
    .map((definition) => limiterOf(definition));
}

/** One batch's asks for one counter: so many ticks after the batch before, looks and hits that are given back too. */
export interface Move {
  /** Share of the period that passes before; negative: the clock goes back. */
  readonly pause: number;
  /** Share of what fits into the counter; 0 looks, negative gives back. */
  readonly share: number;
  readonly times: number;
}

export const MOVES: fc.Arbitrary<Move[]> = fc.array(
  fc.record({
    pause: fc.oneof(fc.constant(0), fc.double({ min: -0.3, max: 2.5, noNaN: true })),
    share: fc.oneof(fc.constant(0), fc.double({ min: -1, max: 1.2, noNaN: true })),
    times: fc.integer({ min: 1, max: 5 }),
  }),
  { minLength: 1, maxLength: 25 },
);

/** The moves at ticks of a rule, in whole hits. */
export function play(rule: StateLimiter, moves: readonly Move[], startTick: number) {
  let tick = startTick;
  return moves.map(({ pause, share, times }) => {
    tick += Math.round(pause * rule.periodTicks);
    const hits = Math.sign(share) * Math.ceil(Math.abs(share) * rule.size);
    return { tick, hits: hits === 0 ? 0 : hits, times: hits > 0 ? times : 1 };
  });
}
