import type { Algorithm } from '../../core/algorithms/algorithm';
import { dueSecondsOf } from '../due-seconds';
import { append, unlink, type LinkedList } from './linked-list';
import { USAGE_QUARTILES } from './window-bucket';

/** One live counter of gcra or sliding_window. */
export interface RollingCounter {
  readonly key: string;
  /** By which it was last charged. */
  algorithm: Algorithm;
  /** As a `CounterState` says it, at the tick. */
  used: number;
  usedBefore: number;
  tick: number;
  /** Unix second from which it says the same as none. */
  endSeconds: number;
  /** Where it is filed; undefined before it is. */
  slot: Slot | undefined;
  usageQuartile: number;
  previous: RollingCounter | undefined;
  next: RollingCounter | undefined;
}

/** Counters that may have ended at a second. */
interface Slot {
  readonly dueSeconds: number;
  /** By usage quartile; the last are at their limit. */
  readonly lists: readonly LinkedList<RollingCounter>[];
}

/**
 * Counters by the times at which they are due (`dueSecondsOf`): some hundred slots, however many counters there are. One
 * whose end moves stays where it is until its slot is due: one move for each time that it would have ended, not one for
 * each hit.
 */
export class ExpirySlots {
  readonly #byDue = new Map<number, Slot>();
  /** Soonest first. */
  #ordered: Slot[] = [];

  /** Files a new counter, or one whose usage has changed. */
  file(counter: RollingCounter, usageQuartile: number, nowSeconds: number): void {
    const isFiled = counter.slot !== undefined;
    if (isFiled && counter.usageQuartile === usageQuartile) return;
    const slot = counter.slot ?? this.#slotOf(counter.endSeconds, nowSeconds);
    if (isFiled) unlink(listOf(slot, counter), counter);
    counter.slot = slot;
    counter.usageQuartile = usageQuartile;
    append(listOf(slot, counter), counter);
  }

  /** Files a counter under its end of now. */
  move(counter: RollingCounter, nowSeconds: number): void {
    this.remove(counter);
    this.file(counter, counter.usageQuartile, nowSeconds);
  }

  remove(counter: RollingCounter): void {
    if (counter.slot === undefined) return;
    unlink(listOf(counter.slot, counter), counter);
    counter.slot = undefined;
  }

  /** A counter whose slot is due; undefined when there is none. */
  due(nowSeconds: number): RollingCounter | undefined {
    for (;;) {
      const [slot] = this.#ordered;
      if (slot === undefined || slot.dueSeconds > nowSeconds) return undefined;
      for (const { first } of slot.lists) if (first !== undefined) return first;
      this.#ordered.shift();
      this.#byDue.delete(slot.dueSeconds);
    }
  }

  /** The counter of this usage quartile that may end soonest. */
  first(usageQuartile: number): RollingCounter | undefined {
    for (const { lists } of this.#ordered) {
      const first = lists[usageQuartile]?.first;
      if (first !== undefined) return first;
    }
    return undefined;
  }

  clear(): void {
    this.#byDue.clear();
    this.#ordered = [];
  }

  #slotOf(endSeconds: number, nowSeconds: number): Slot {
    const dueSeconds = dueSecondsOf(endSeconds, nowSeconds);
    const known = this.#byDue.get(dueSeconds);
    if (known !== undefined) return known;
    const lists = Array.from({ length: USAGE_QUARTILES + 1 }, () => ({
      first: undefined,
      last: undefined,
    }));
    const slot = { dueSeconds, lists };
    this.#byDue.set(dueSeconds, slot);
    const place = this.#ordered.findLastIndex((one) => one.dueSeconds < dueSeconds) + 1;
    this.#ordered.splice(place, 0, slot);
    return slot;
  }
}

function listOf({ lists }: Slot, { usageQuartile }: RollingCounter): LinkedList<RollingCounter> {
  return lists[usageQuartile] as LinkedList<RollingCounter>;
}
