import type { CounterState, Limiter, Kind } from './kind';
import { isRecalledWhole, refusalOfWhole } from './refusal';
import { numbersIn, rollingWords, ROLLING_RANGE } from './rolling';
import { isAstray } from './ticks';
import {
  commitCharges,
  heldOutcomeOf,
  isAnyRefused,
  outcomeOfCharge,
  refusesOne,
  wasFull,
} from './whole';

/** The largest limit that is counted so, and the most hits that a counter remembers: a debt is clamped to this. */
export const MAX_LOGGED = 64;

/**
 * The moment of each hit in use, for small limits: never more than the limit within any period, and a client whose hits n and n +
 * limit are a period apart is never refused. `ages` is the ticks since each hit, the oldest first, and `used` their number. Stored
 * as the ticks, which Redis packs as doubles.
 */
export const slidingLog = {
  letter: 'l',
  words: rollingWords('sliding_window', () => 'sliding window'),
  serves: (_, limit) => limit <= MAX_LOGGED,
  range: ROLLING_RANGE,
  hasBurst: false,
  readsFirst: true,
  isRecord: true,
  lua: { file: 'sliding-log', isLog: true, hasPrevious: false },
  ofHits: (_, hits) => stateOf(new Array<number>(Math.min(hits, MAX_LOGGED)).fill(0)),
  advance: (limiter, { ages = [] }, ticks) => advance(limiter, ages, ticks),
  free: ({ size, periodTicks }, { used }) => (size - used) * periodTicks,
  /** A refund removes the newest hits. */
  take(_, { ages = [] }, hits) {
    if (hits <= 0) return stateOf(ages.slice(0, Math.max(0, ages.length + hits)));
    // A hit is never placed before an older one, even after the clock went back.
    const age = Math.min(0, ages.at(-1) ?? 0);
    const more = new Array<number>(Math.min(hits, MAX_LOGGED)).fill(age);
    return stateOf([...ages, ...more].slice(-MAX_LOGGED));
  },
  ticksUntilReset,
  ticksUntilFree({ size, periodTicks }, { ages = [] }, hits) {
    return periodTicks - (ages[ages.length + hits - size - 1] ?? periodTicks);
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
  ticksOfLife: ticksUntilReset,
  isAstray: (limiter, { ages = [] }, ticks) => isAstray(limiter, (ages.at(-1) ?? 0) + ticks),
  encode: (_, { ages = [] }, nowTick) => ages.map((age) => String(nowTick - age)).join(' '),
  decode(limiter, value, nowTick) {
    if (value === '') return stateOf([]);
    const times = numbersIn(value);
    if (times.length === 0 || times.length > MAX_LOGGED) return undefined;
    return advance(limiter, agesOf(times, nowTick), 0);
  },
  heirOf: { letter: 's', decode: decodeWindow },
} as const satisfies Kind<CounterState>;

/** `window previous used`: the moments of its hits are unknown; the latest possible ones are taken. */
function decodeWindow(
  limiter: Limiter<CounterState>,
  value: string,
  nowTick: number,
): CounterState | undefined {
  const [window, previous, used, ...more] = numbersIn(value);
  if (window === undefined || previous === undefined || used === undefined) return undefined;
  if (more.length > 0) return undefined;
  const since = Math.max(0, nowTick - window * limiter.periodTicks);
  const sinceEnd = Math.max(0, since - limiter.periodTicks);
  const before = new Array<number>(Math.min(previous, MAX_LOGGED)).fill(since);
  const own = new Array<number>(Math.min(used, MAX_LOGGED)).fill(sinceEnd);
  return advance(limiter, [...before, ...own].slice(-MAX_LOGGED), 0);
}

/** The state with hits of these ages in ticks, the oldest first. */
export function stateOf(ages: readonly number[]): CounterState {
  return { used: ages.length, previous: 0, elapsed: 0, ages };
}

/** The ages of hits that were counted at these ticks. */
export function agesOf(times: readonly number[], nowTick: number): readonly number[] {
  return times.map((time) => nowTick - time);
}

function ticksUntilReset(
  { periodTicks }: Limiter<CounterState>,
  { ages = [] }: CounterState,
): number {
  const newest = ages.at(-1);
  return newest === undefined ? 0 : periodTicks - newest;
}

/** Drops hits that are a period old. A hit further in the future than clocks may differ counts as one of now. */
function advance(
  limiter: Limiter<CounterState>,
  ages: readonly number[],
  ticks: number,
): CounterState {
  const { periodTicks } = limiter;
  let gone = 0;
  while (gone < ages.length && (ages[gone] as number) + ticks >= periodTicks) gone += 1;
  const live: number[] = [];
  for (let at = gone; at < ages.length; at += 1) live.push((ages[at] as number) + ticks);
  if (!isAstray(limiter, live.at(-1) ?? 0)) return stateOf(live);
  return stateOf(live.map((age) => (isAstray(limiter, age) ? 0 : age)).sort((a, b) => b - a));
}
