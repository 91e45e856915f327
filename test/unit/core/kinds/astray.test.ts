import { KINDS } from '../../../../src/core/kinds/kinds';
import { compileLimiter, usedHits } from '../../../../src/core/kinds/limiter';
import type { Kind } from '../../../../src/core/kinds/kind';
import { SPARE_SECONDS } from '../../../../src/core/kinds/ticks';

/** Counters that a clock wrote which was ahead for a moment. */

const PERIOD = 10;
const NOW = 1_795_240_205;
const everyKind: readonly Kind[] = KINDS;
const rolling = everyKind.filter(({ isRecord }) => isRecord);
const nameOf = ({ words, letter }: Kind) => `${words.name} (${letter})`;
const limiterOf = (kind: Kind) => compileLimiter(kind, { limit: 10, periodSeconds: PERIOD });
const ticksOf = (seconds: number, { tickMicros }: ReturnType<typeof limiterOf>) =>
  (seconds * 1_000_000) / tickMicros;

/** Where a counter stands now that had 7 hits so many seconds from now. */
function writtenAhead(kind: Kind, seconds: number) {
  const limiter = limiterOf(kind);
  const state = kind.ofHits(limiter, 7, ticksOf(NOW + seconds, limiter));
  return { limiter, state, ticks: -ticksOf(seconds, limiter) };
}

it.each(rolling.map((kind) => [nameOf(kind), kind] as const))(
  'keeps the hits of a counter that was written far ahead, as if they were of now: %s',
  (_, kind) => {
    for (const seconds of [2 * PERIOD + SPARE_SECONDS, 86_400 * 400]) {
      const { limiter, state, ticks } = writtenAhead(kind, seconds);
      expect(kind.isAstray(limiter, state, ticks)).toBe(true);
      const stands = kind.advance(limiter, state, ticks);
      expect(usedHits(limiter, stands)).toBe(7);
      expect(kind.ticksOfLife(limiter, stands)).toBeLessThanOrEqual(2 * limiter.periodTicks);
      expect(kind.isAstray(limiter, stands, 0)).toBe(false);
    }
  },
);

it.each(rolling.map((kind) => [nameOf(kind), kind] as const))(
  'believes a clock that went back by a period and some seconds: %s',
  (_, kind) => {
    const { limiter, state, ticks } = writtenAhead(kind, PERIOD + SPARE_SECONDS);
    expect(kind.isAstray(limiter, state, ticks)).toBe(false);
    expect(usedHits(limiter, kind.advance(limiter, state, ticks))).toBe(7);
  },
);

it.each(everyKind.filter((kind) => !rolling.includes(kind)).map((kind) => [nameOf(kind), kind]))(
  'finds nothing wrong in a window, which no time passes: %s',
  (_, kind) => {
    const { limiter, state, ticks } = writtenAhead(kind, 86_400 * 400);
    expect(kind.isAstray(limiter, state, ticks)).toBe(false);
  },
);

it('puts the hits of a log that are too far ahead behind those that a clock may have counted', () => {
  const kind = everyKind.find(({ letter }) => letter === 'l') as Kind;
  const limiter = limiterOf(kind);
  const tick = ticksOf(NOW, limiter);
  const times = [NOW - 4, NOW + 3, NOW + 400_000].map((at) => String(ticksOf(at, limiter)));
  const state = kind.decode(limiter, times.join(' '), tick);
  expect(state).toMatchObject({ used: 3, ages: [4, 0, -3].map((at) => ticksOf(at, limiter)) });
});
