import type { CounterState, Limiter, Kind } from './kind';
import { rollingWords, ROLLING_RANGE, numbersIn } from './rolling';
import { isAstray } from './ticks';
import { isRecalledWhole, refusalOfWhole } from './refusal';
import {
  commitCharges,
  heldOutcomeOf,
  isAnyRefused,
  outcomeOfCharge,
  refusesOne,
  wasFull,
} from './whole';

/** A debt is clamped to this: beyond, integers are not exact. */
const MAX_UNITS = Number.MAX_SAFE_INTEGER;

/**
 * A bucket that drains evenly: `used` is in units, and each tick frees one unit per hit of the limit; `elapsed` is the ticks
 * since the last change, 0 once `used` has drained up to now. Stored as `units tick`.
 */
export const gcra = {
  letter: 'g',
  words: rollingWords('gcra', ({ size }) => `bursts of ${String(size)}`),
  serves: () => true,
  range: ROLLING_RANGE,
  hasBurst: true,
  readsFirst: true,
  isRecord: true,
  lua: { file: 'gcra', isLog: false, hasPrevious: false },
  ofHits: ({ periodTicks }, hits) => ({ used: hits * periodTicks, previous: 0, elapsed: 0 }),
  advance,
  free: ({ size, periodTicks }, { used }) => size * periodTicks - used,
  take({ periodTicks }, { used, previous, elapsed }, hits) {
    const after = Math.min(used + hits * periodTicks, MAX_UNITS);
    return { used: Math.max(0, after), previous, elapsed };
  },
  ticksUntilReset: ({ drain }, { used, elapsed }) =>
    used === 0 ? 0 : Math.ceil(used / drain) - elapsed,
  ticksUntilFree({ size, drain, periodTicks }, { used, elapsed }, hits) {
    const missing = hits * periodTicks - (size * periodTicks - used);
    return Math.ceil(missing / drain) - elapsed;
  },
  hitsCharged: () => undefined,
  isAnyRefused,
  outcome: outcomeOfCharge,
  heldOutcome: heldOutcomeOf,
  commit: commitCharges,
  refuses: refusesOne,
  isRecalled: isRecalledWhole,
  refusal: refusalOfWhole,
  isTakenBack: wasFull,
  ticksOfLife: ({ drain }, { used, elapsed }) => Math.ceil(used / drain) - elapsed,
  isAstray: (limiter, { elapsed }, ticks) => isAstray(limiter, elapsed + ticks),
  encode: (_, { used, elapsed }, tick) => `${String(used)} ${String(tick - elapsed)}`,
  decode(limiter, value, nowTick) {
    const [used, tick, ...more] = numbersIn(value);
    if (used === undefined || tick === undefined || more.length > 0) return undefined;
    return advance(limiter, { used, previous: 0, elapsed: 0 }, nowTick - tick);
  },
} as const satisfies Kind<CounterState>;

function advance(
  limiter: Limiter<CounterState>,
  { used, previous, elapsed }: CounterState,
  ticks: number,
): CounterState {
  const now = elapsed + ticks;
  if (isAstray(limiter, now)) return { used, previous, elapsed: 0 };
  if (now <= 0) return { used, previous, elapsed: now };
  // A product beyond 2^53 is rounded, but never below the usage.
  return { used: Math.max(0, used - now * limiter.drain), previous, elapsed: 0 };
}
