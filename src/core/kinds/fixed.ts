import type { CounterState, Kind } from './kind';
import { isRecalledWhole, refusalOfWhole } from './refusal';
import {
  commitCharges,
  heldOutcomeOf,
  isAnyRefused,
  outcomeOfCharge,
  refusesOne,
  wasFull,
} from './whole';
import { nothing, WINDOW_RANGE } from './window';

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
