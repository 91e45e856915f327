import { freeHits, isUnused, lifetimeMs, unused, usedHits } from '../../core/kinds/limiter';
import type { CounterState, Limiter } from '../../core/kinds/kind';
import { tickAt } from '../../core/kinds/ticks';
import { outcomeOf } from '../../core/kinds/whole';
import type { Increment } from '../../core/ports';
import type { Steps } from '../../core/steps';
import { findOver } from '../over-entries';
import { toKeptKey } from '../kept-key';
import { USAGE_QUARTILES, usageQuartileOf } from './counter-slots';
import type { CounterId } from './counter-table';
import { EndingCounters, OWN } from './ending-counters';
import type { KeyReader } from './key-reader';
import { NONE } from './record-pages';
import { SharedObjects } from './shared-objects';
import type { MakeRoom, OverCounter } from './window-counters';

/** Numbers of a counter, as in `CounterState`, at the tick. Its note: the number of the limiter of its last charge. */
const USED = OWN;
const PREVIOUS = OWN + 1;
const TICK = OWN + 2;
const NUMBERS = 3;

/** Memory for the ages of the hits of one counter, with their place in a map: this, and a number each. */
const AGES_BYTES = 120;

const ONE_HIT = { hits: 1, times: 1 };

interface RollingEntry {
  readonly value: number;
  readonly state: CounterState;
  readonly ttlSeconds: number;
}

/** The counters that are records. The expiry of each moves with every hit. */
export class RollingCounters {
  readonly kept: EndingCounters;
  readonly #makeRoom: MakeRoom;
  readonly #onMended: () => void;
  readonly #limiters = new SharedObjects<Limiter<CounterState>>();
  /** Ages of hits, by counters that keep them. */
  readonly #ages = new Map<CounterId, readonly number[]>();
  #agesBytes = 0;

  constructor(makeRoom: MakeRoom, key: KeyReader, onMended: () => void) {
    this.#makeRoom = makeRoom;
    this.#onMended = onMended;
    this.kept = new EndingCounters({
      numbers: NUMBERS,
      key,
      onRemoved: (id) => {
        this.#limiters.give(this.kept.table.note(id));
        this.#setAges(id, undefined);
      },
      onMoved: (from, to) => {
        const ages = this.#ages.get(from);
        this.#setAges(from, undefined);
        this.#setAges(to, ages);
      },
    });
  }

  /** An upper bound of their memory. */
  get bytes(): number {
    return this.kept.table.bytes + this.#agesBytes;
  }

  /** A counter's current state. */
  currentState(
    { key }: Increment,
    limiter: Limiter<CounterState>,
    nowSeconds: number,
  ): CounterState {
    return this.#stateOf(this.kept.find(toKeptKey(key)), limiter, nowSeconds);
  }

  /** The counter before the increment's charges; undefined: no room for a new counter, nothing was changed. */
  apply(
    increment: Increment,
    limiter: Limiter<CounterState>,
    nowSeconds: number,
  ): CounterState | undefined {
    const key = toKeptKey(increment.key);
    const id = this.kept.find(key);
    const state = this.#stateOf(id, limiter, nowSeconds);
    const isMended = id !== NONE && this.#isMended(id, limiter, nowSeconds);
    const after = limiter.kind.commit(increment, state) ?? (isMended ? state : undefined);
    if (after === undefined) return state;
    if (id === NONE && isUnused(after)) return state;
    if (id === NONE && !this.#makeRoom(this.#bytesOf(key, after))) return undefined;
    this.#keep(id === NONE ? this.#add(key, limiter) : id, limiter, after, nowSeconds);
    return state;
  }

  /** Whether a wrong clock wrote it: it is then mended even where the charge changes nothing. */
  #isMended(id: CounterId, limiter: Limiter<CounterState>, nowSeconds: number): boolean {
    const ticks = tickAt(nowSeconds, limiter.tickMicros) - this.kept.table.number(id, TICK);
    // A counter that was written in the past is not astray: the usual one costs no more than this check.
    if (ticks >= 0 || !limiter.kind.isAstray(limiter, this.#keptState(id), ticks)) return false;
    this.#onMended();
    return true;
  }

  /** Hits in use, the state, and the seconds to live; undefined when the counter is missing. */
  read(
    { key }: Pick<Increment, 'key'>,
    limiter: Limiter<CounterState>,
    nowSeconds: number,
  ): RollingEntry | undefined {
    const id = this.kept.find(toKeptKey(key));
    if (id === NONE) return undefined;
    const state = this.#stateOf(id, limiter, nowSeconds);
    const ttlSeconds = this.kept.endSeconds(id) - nowSeconds;
    return { value: usedHits(limiter, state), state, ttlSeconds };
  }

  remove({ key }: Increment): void {
    const id = this.kept.find(toKeptKey(key));
    if (id !== NONE) this.kept.remove(id);
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
    const state = limiter.kind.ofHits(limiter, used, tickAt(nowSeconds, limiter.tickMicros));
    if (!this.#makeRoom(this.#bytesOf(key, state))) return false;
    this.#keep(this.#add(key, limiter), limiter, state, nowSeconds);
    return true;
  }

  #keep(
    id: CounterId,
    limiter: Limiter<CounterState>,
    after: CounterState,
    nowSeconds: number,
  ): void {
    if (isUnused(after)) {
      this.kept.remove(id);
      return;
    }
    const { table } = this.kept;
    const before = table.note(id);
    if (this.#limiters.of(before) !== limiter) {
      table.setNote(id, this.#limiters.take(limiter));
      this.#limiters.give(before);
    }
    table.setNumber(id, USED, after.used);
    table.setNumber(id, PREVIOUS, after.previous);
    table.setNumber(id, TICK, tickAt(nowSeconds, limiter.tickMicros) - after.elapsed);
    if (after.ages !== undefined || this.#ages.size > 0) this.#setAges(id, after.ages);
    const endSeconds = Math.ceil(nowSeconds + lifetimeMs(limiter, after) / 1_000);
    const { size } = limiter;
    const quartile = usageQuartileOf(size - freeHits(limiter, after), size);
    this.kept.keep(id, endSeconds, quartile, nowSeconds);
  }

  /** Counters that refuse a single hit now, up to a number. */
  listOver(nowSeconds: number, most: number): Steps<readonly OverCounter[]> {
    const { table } = this.kept;
    return findOver(table.all(), most, (id) => {
      if (table.list(id) < USAGE_QUARTILES) return undefined;
      const limiter = this.#limiters.of(table.note(id));
      const state = this.#stateOf(id, limiter, nowSeconds);
      if (freeHits(limiter, state) >= 1) return undefined;
      const { resetSeconds } = outcomeOf(limiter, state, ONE_HIT, 1);
      const windowEndSeconds = Math.ceil(nowSeconds) + resetSeconds;
      const count = usedHits(limiter, state);
      return { key: table.keyOf(id), limit: limiter.limit, count, windowEndSeconds };
    });
  }

  #add(key: string, limiter: Limiter<CounterState>): CounterId {
    const id = this.kept.add(key);
    this.kept.table.setNote(id, this.#limiters.take(limiter));
    return id;
  }

  #stateOf(id: CounterId, limiter: Limiter<CounterState>, nowSeconds: number): CounterState {
    const tick = tickAt(nowSeconds, limiter.tickMicros);
    if (id === NONE) return unused(limiter, tick);
    return limiter.kind.advance(
      limiter,
      this.#keptState(id),
      tick - this.kept.table.number(id, TICK),
    );
  }

  #keptState(id: CounterId): CounterState {
    const { table } = this.kept;
    const ages = this.#ages.size === 0 ? undefined : this.#ages.get(id);
    return { used: table.number(id, USED), previous: table.number(id, PREVIOUS), elapsed: 0, ages };
  }

  #setAges(id: CounterId, ages: readonly number[] | undefined): void {
    this.#agesBytes += bytesOfAges(ages) - bytesOfAges(this.#ages.get(id));
    if (ages === undefined) this.#ages.delete(id);
    else this.#ages.set(id, ages);
  }

  #bytesOf(key: string, { ages }: CounterState): number {
    return this.kept.table.bytesOf(key) + bytesOfAges(ages);
  }
}

function bytesOfAges(ages: readonly number[] | undefined): number {
  return ages === undefined ? 0 : AGES_BYTES + 8 * ages.length;
}
