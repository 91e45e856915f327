import { copyOf } from '../../platform/copy-of';
import { bytesOfText } from '../kept-key';
import type { Increment } from '../../core/ports';
import type { HitLease } from './hit-lease';
import { HitRate } from './hit-rate';

/** A counter that is asked for often, whatever its window: what is known of it, and its lease. */
export interface WarmCounter {
  readonly rate: HitRate;
  /** Undefined: none in a window of now. */
  lease: HitLease | undefined;
}

/** What V8 takes for an entry besides the texts of its keys: three objects, two increments and a place in a map. */
const ENTRY_BYTES = 600;

/** Longer keys are of no use here: their requests choose how long they are. */
const MAX_KEY_LENGTH = 1_024;

/** Counters that may have leases, bounded in bytes; for what does not fit there is no lease. */
export class LeaseTable {
  readonly #maxBytes: number;
  readonly #counters = new Map<string, WarmCounter>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get size(): number {
    return this.#counters.size;
  }

  get(place: LeasePlace): WarmCounter | undefined {
    return this.#counters.get(nameOf(place));
  }

  /** A new counter; undefined: there is no room for it. */
  add(place: LeasePlace, nowMs: number): WarmCounter | undefined {
    const name = nameOf(place);
    const bytes = bytesOf(name);
    if (place.key.length > MAX_KEY_LENGTH || this.#bytes + bytes > this.#maxBytes) return undefined;
    const counter: WarmCounter = { rate: new HitRate(nowMs), lease: undefined };
    this.#counters.set(copyOf(name), counter);
    this.#bytes += bytes;
    return counter;
  }

  /** Forgets those of which this is true. */
  drop(isCold: (counter: WarmCounter) => boolean): void {
    for (const [name, counter] of this.#counters) {
      if (!isCold(counter)) continue;
      this.#counters.delete(name);
      this.#bytes -= bytesOf(name);
    }
  }

  counters(): IterableIterator<WarmCounter> {
    return this.#counters.values();
  }
}

/** The counter of a rule, whatever its window. */
export type LeasePlace = Pick<Increment, 'key' | 'rule'>;

/**
 * The key without the start of its window, since what is known of a counter's rate is known in the next window too, and the length
 * of that: the keys of two rules may read the same but for their windows.
 */
function nameOf({ key, rule }: LeasePlace): string {
  const { unit, periodSeconds = 0 } = rule;
  return `${unit}${String(periodSeconds)} ${key.slice(0, key.lastIndexOf('_'))}`;
}

/** With the key of its lease, which is longer by the start of a window. */
function bytesOf(name: string): number {
  return ENTRY_BYTES + 2 * bytesOfText(name);
}
