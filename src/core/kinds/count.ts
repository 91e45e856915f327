import type { Kind, Outcome } from './kind';
import { commitCharges, refusesOne } from './whole';
import { nothing, WINDOW_RANGE } from './window';

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
