import { freeHits, isUnused, lifetimeMs, unused, usedHits } from '../../core/kinds/limiter';
import type { CounterState, Limiter } from '../../core/kinds/kind';
import { tickAt } from '../../core/kinds/ticks';
import { outcomeOf } from '../../core/kinds/whole';
import type { Increment } from '../../core/ports';
import type { Steps } from '../../core/steps';
import { findOver } from '../over-entries';
import { toKeptKey } from '../kept-key';
import { USAGE_QUARTILES, usageQuartileOf } from './counter-slots';
import { EndingCounters, type EndingCounter } from './ending-counters';
import type { MakeRoom, OverCounter } from './window-counters';

/** Memory that V8 needs per counter besides the characters of its key, measured: an object, two numbers, a string and a map entry. */
const COUNTER_BYTES = 248;

const ONE_HIT = { hits: 1, times: 1 };

interface RollingCounter extends EndingCounter<RollingCounter> {
  /** The limiter of its last charge. */
  limiter: Limiter<CounterState>;
  /** As in `CounterState`, at the tick. */
  used: number;
  usedBefore: number;
  tick: number;
  ages: readonly number[] | undefined;
}

interface RollingEntry {
  readonly value: number;
  readonly state: CounterState;
  readonly ttlSeconds: number;
}

/** The counters that are records. The expiry of each moves with every hit. */
export class RollingCounters {
  readonly kept = new EndingCounters<RollingCounter>(COUNTER_BYTES);
  readonly #makeRoom: MakeRoom;
  readonly #onMended: () => void;

  constructor(makeRoom: MakeRoom, onMended: () => void) {
    this.#makeRoom = makeRoom;
    this.#onMended = onMended;
  }

  /** A counter's current state. */
  currentState(
    { key }: Increment,
    limiter: Limiter<CounterState>,
    nowSeconds: number,
  ): CounterState {
    return stateOf(this.kept.find(toKeptKey(key)), limiter, nowSeconds);
  }

  /** The counter before the increment's charges; undefined: no room for a new counter, nothing was changed. */
  apply(
    increment: Increment,
    limiter: Limiter<CounterState>,
    nowSeconds: number,
  ): CounterState | undefined {
    const key = toKeptKey(increment.key);
    const counter = this.kept.find(key);
    const state = stateOf(counter, limiter, nowSeconds);
    const isMended = counter !== undefined && this.#isMended(counter, limiter, nowSeconds);
    const after = limiter.kind.commit(increment, state) ?? (isMended ? state : undefined);
    if (after === undefined) return state;
    if (counter === undefined && isUnused(after)) return state;
    if (counter === undefined && !this.#makeRoom(this.kept.slots.bytesOf(key))) return undefined;
    this.#keep(counter ?? this.#add(key, limiter), limiter, after, nowSeconds);
    return state;
  }

  /** Whether a wrong clock wrote it: it is then mended even where the charge changes nothing. */
  #isMended(counter: RollingCounter, limiter: Limiter<CounterState>, nowSeconds: number): boolean {
    const ticks = tickAt(nowSeconds, limiter.tickMicros) - counter.tick;
    // A counter that was written in the past is not astray: the usual one costs no more than this check.
    if (ticks >= 0 || !limiter.kind.isAstray(limiter, keptState(counter), ticks)) return false;
    this.#onMended();
    return true;
  }

  /** Hits in use, the state, and the seconds to live; undefined when the counter is missing. */
  read(
    { key }: Pick<Increment, 'key'>,
    limiter: Limiter<CounterState>,
    nowSeconds: number,
  ): RollingEntry | undefined {
    const counter = this.kept.find(toKeptKey(key));
    if (counter === undefined) return undefined;
    const state = stateOf(counter, limiter, nowSeconds);
    const ttlSeconds = counter.endSeconds - nowSeconds;
    return { value: usedHits(limiter, state), state, ttlSeconds };
  }

  remove({ key }: Increment): void {
    const counter = this.kept.find(toKeptKey(key));
    if (counter !== undefined) this.kept.remove(counter);
  }

  /** Sets a counter to a number of hits; false: no room for a new one. */
  set(
    increment: Increment,
    limiter: Limiter<CounterState>,
    used: number,
    nowSeconds: number,
  ): boolean {
    this.remove(increment);
    if (used === 0) return true;
    const key = toKeptKey(increment.key);
    if (!this.#makeRoom(this.kept.slots.bytesOf(key))) return false;
    const state = limiter.kind.ofHits(limiter, used, tickAt(nowSeconds, limiter.tickMicros));
    this.#keep(this.#add(key, limiter), limiter, state, nowSeconds);
    return true;
  }

  #keep(
    kept: RollingCounter,
    limiter: Limiter<CounterState>,
    after: CounterState,
    nowSeconds: number,
  ): void {
    if (isUnused(after)) {
      this.kept.remove(kept);
      return;
    }
    kept.limiter = limiter;
    kept.used = after.used;
    kept.usedBefore = after.previous;
    kept.ages = after.ages;
    kept.tick = tickAt(nowSeconds, limiter.tickMicros) - after.elapsed;
    kept.endSeconds = Math.ceil(nowSeconds + lifetimeMs(limiter, after) / 1_000);
    const { size } = limiter;
    this.kept.keep(kept, usageQuartileOf(size - freeHits(limiter, after), size), nowSeconds);
  }

  /** Counters that refuse a single hit now, up to a number. */
  listOver(nowSeconds: number, most: number): Steps<readonly OverCounter[]> {
    return findOver(this.kept.all(), most, (counter) => {
      if (counter.usageQuartile < USAGE_QUARTILES) return undefined;
      const { key, limiter } = counter;
      const state = stateOf(counter, limiter, nowSeconds);
      if (freeHits(limiter, state) >= 1) return undefined;
      const { resetSeconds } = outcomeOf(limiter, state, ONE_HIT, 1);
      const windowEndSeconds = Math.ceil(nowSeconds) + resetSeconds;
      const count = usedHits(limiter, state);
      return { key, limit: limiter.limit, count, windowEndSeconds };
    });
  }

  #add(key: string, limiter: Limiter<CounterState>): RollingCounter {
    const counter: RollingCounter = {
      key,
      limiter,
      used: 0,
      usedBefore: 0,
      tick: 0,
      ages: undefined,
      endSeconds: 0,
      slot: undefined,
      usageQuartile: 0,
      previous: undefined,
      next: undefined,
    };
    this.kept.add(counter);
    return counter;
  }
}

function stateOf(
  counter: RollingCounter | undefined,
  limiter: Limiter<CounterState>,
  nowSeconds: number,
): CounterState {
  const tick = tickAt(nowSeconds, limiter.tickMicros);
  if (counter === undefined) return unused(limiter, tick);
  return limiter.kind.advance(limiter, keptState(counter), tick - counter.tick);
}

function keptState({ used, usedBefore, ages }: RollingCounter): CounterState {
  return { used, previous: usedBefore, elapsed: 0, ages };
}
