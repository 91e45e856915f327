import type { CounterState, Limiter, Kind } from './kind';
import { numbersIn, rollingWords, ROLLING_RANGE } from './rolling';
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

/** A debt is clamped to this: beyond, products are not exact. */
const MAX_HITS = 100_000_000;

/**
 * A window that moves with time: the current window, and the share of the previous one that still overlaps, minus one hit: hits
 * that are spread evenly are points, the first of which is at the start, so that a steady client is not refused. `used` and
 * `previous` are their hits, `elapsed` the ticks since the current window began. Stored as `window previous used`.
 */
export const sliding = {
  letter: 's',
  words: rollingWords('sliding_window', () => 'sliding window'),
  serves: () => true,
  range: ROLLING_RANGE,
  hasBurst: false,
  readsFirst: true,
  isRecord: true,
  lua: { file: 'sliding', isLog: false, hasPrevious: true },
  ofHits: ({ periodTicks }, used, nowTick) => ({
    used,
    previous: 0,
    elapsed: nowTick % periodTicks,
  }),
  advance,
  free({ size, periodTicks }, { used, previous, elapsed }) {
    const fading = previous * (periodTicks - Math.max(0, elapsed)) - periodTicks;
    return (size - used) * periodTicks - Math.max(0, fading);
  },
  take(_, { used, previous, elapsed }, hits) {
    return { used: Math.max(0, Math.min(used + hits, MAX_HITS)), previous, elapsed };
  },
  ticksUntilReset: ({ periodTicks }, { elapsed }) => periodTicks - elapsed,
  /** Hits of this window stay until its end; meanwhile only the previous window fades. */
  ticksUntilFree({ limit, periodTicks }, { used, previous, elapsed }, hits) {
    if (used + hits <= limit)
      return ticksUntilFaded(limit - used - hits, previous, periodTicks) - elapsed;
    return periodTicks - elapsed + ticksUntilFaded(limit - hits, used, periodTicks);
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
  ticksOfLife: ({ periodTicks }, { elapsed }) => 2 * periodTicks - elapsed,
  isAstray: (limiter, { elapsed }, ticks) => isAstray(limiter, elapsed + ticks),
  encode({ periodTicks }, { used, previous, elapsed }, tick) {
    const window = Math.floor((tick - elapsed) / periodTicks);
    return `${String(window)} ${String(previous)} ${String(used)}`;
  },
  decode(limiter, value, nowTick) {
    const [window, previous, used, ...more] = numbersIn(value);
    if (window === undefined || previous === undefined || used === undefined) return undefined;
    if (more.length > 0) return undefined;
    const stored = { used, previous, elapsed: 0 };
    return advance(limiter, stored, nowTick - window * limiter.periodTicks);
  },
} as const satisfies Kind<CounterState>;

/** Ticks from the start of a window until at most `room` of the `previous` hits are left. */
function ticksUntilFaded(room: number, previous: number, periodTicks: number): number {
  return Math.max(0, periodTicks - Math.floor(((room + 1) * periodTicks) / previous));
}

function advance(
  limiter: Limiter<CounterState>,
  { used, previous, elapsed }: CounterState,
  ticks: number,
): CounterState {
  const { periodTicks } = limiter;
  const now = elapsed + ticks;
  // A window from a wrong clock becomes the current one.
  if (isAstray(limiter, now)) {
    const since = ((now % periodTicks) + periodTicks) % periodTicks;
    return { used, previous, elapsed: since };
  }
  if (now < periodTicks) return { used, previous, elapsed: now };
  if (now < 2 * periodTicks) return { used: 0, previous: used, elapsed: now - periodTicks };
  return { used: 0, previous: 0, elapsed: now % periodTicks };
}
