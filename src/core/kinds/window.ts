import type { KindRange, Kind, Outcome, CounterState } from './kind';
import {
  commitCharges,
  refusesOne,
  heldOutcomeOf,
  isAnyRefused,
  outcomeOfCharge,
  wasFull,
} from './whole';
import { isRecalledWhole, refusalOfWhole } from './refusal';

/** Counters of windows are integers of 64 bits in every store; a limit is a uint32. */
export const WINDOW_RANGE: KindRange = {
  maxLimit: 4_294_967_295,
  maxPeriodSeconds: Infinity,
  hasCalendar: true,
};

/** A count needs no clock of its own: one unit per hit, none freed by time. */
export const WINDOW_TICKS = { tickMicros: 1_000_000, periodTicks: 1 } as const;

const nothing = (): number => 0;

function outcomeAt(limit: number, after: number, hits: number, resetSeconds: number): Outcome {
  if (after <= limit)
    // A counter below 0, or one that others have lowered, leaves at most the limit.
    return {
      isOver: false,
      remaining: limit - Math.max(after, 0),
      used: after,
      over: 0,
      resetSeconds,
    };
  const over = after - hits >= limit ? Math.max(hits, 0) : after - limit;
  return { isOver: true, remaining: 0, used: after, over, resetSeconds };
}

/** The plain window, which charges every hit: hits above the limit are over, those below it are not. */
export const count = {
  letter: 'p',
  words: { name: 'fixed_window', feature: 'algorithm: fixed_window', ofLimiter: () => [] },
  serves: (chargeDenied) => chargeDenied !== false,
  range: WINDOW_RANGE,
  hasBurst: false,
  readsFirst: false,
  isRecord: false,
  lua: { file: 'window', isLog: false, hasPrevious: false },
  ofHits: (_, hits) => hits,
  advance: (_, reading) => reading,
  free: ({ limit }, reading) => limit - reading,
  take: (_, reading, hits) => Math.max(0, reading + hits),
  ticksUntilReset: nothing,
  ticksUntilFree: nothing,
  hitsCharged: (after) => after,
  isAnyRefused: ({ limiter }, after) => after > limiter.limit,
  outcome: ({ limiter, windowEndSeconds }, after, hits, later, second) =>
    outcomeAt(limiter.limit, after - later, hits, windowEndSeconds - second),
  heldOutcome: ({ limiter, windowEndSeconds }, reading, hits, second) =>
    outcomeAt(limiter.limit, reading, hits, windowEndSeconds - second),
  commit: commitCharges,
  refuses: refusesOne,
  isRecalled: () => true,
  refusal: ({ limiter }, after) => (after > limiter.limit ? after : undefined),
  isTakenBack: ({ limiter, hits }, after) =>
    after <= limiter.limit && after - Number(hits) > limiter.limit,
  isAstray: () => false,
  ticksOfLife: nothing,
  encode: (_, reading) => String(reading),
  decode: (_, value) => Number(value),
} as const satisfies Kind<number>;

/** A window that does not charge refused hits. Its key and its count are those of the plain window. */
export const fixed = {
  letter: 'f',
  words: {
    name: 'fixed_window',
    feature: 'charge_denied: false',
    ofLimiter: () => ['refused hits are not charged'],
  },
  serves: (chargeDenied) => chargeDenied === false,
  range: WINDOW_RANGE,
  hasBurst: false,
  readsFirst: true,
  isRecord: false,
  lua: { file: 'window', isLog: false, hasPrevious: false },
  ofHits: (_, used) => ({ used, previous: 0, elapsed: 0 }),
  advance: (_, state) => state,
  free: ({ size }, { used }) => size - used,
  take: (_, { used, previous, elapsed }, hits) => {
    const after = Math.min(used + hits, Number.MAX_SAFE_INTEGER);
    return { used: Math.max(0, after), previous, elapsed };
  },
  ticksUntilReset: nothing,
  ticksUntilFree: nothing,
  hitsCharged: () => undefined,
  isAnyRefused,
  // It ends with its window, even when it refuses.
  outcome(operation, state, hits, later, second) {
    const resetSeconds = operation.windowEndSeconds - second;
    return { ...outcomeOfCharge(operation, state, hits, later), resetSeconds };
  },
  heldOutcome(operation, state, hits, second) {
    const resetSeconds = operation.windowEndSeconds - second;
    return { ...heldOutcomeOf(operation, state, hits), resetSeconds };
  },
  commit: commitCharges,
  refuses: refusesOne,
  isRecalled: isRecalledWhole,
  refusal: refusalOfWhole,
  isTakenBack: wasFull,
  isAstray: () => false,
  ticksOfLife: nothing,
  encode: (_, { used }) => String(used),
  decode: (_, value) => ({ used: Number(value), previous: 0, elapsed: 0 }),
} as const satisfies Kind<CounterState>;
