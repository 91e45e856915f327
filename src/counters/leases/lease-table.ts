import { copyOf } from '../../platform/copy-of';
import { bytesOfText } from '../kept-key';
import type { Increment } from '../../core/ports';
import { periodName } from '../../core/windows/calendar';
import type { HitLease } from './hit-lease';

const SPAN_MS = 1_000;

/** Hits of the last second: those of the current second, and those of the previous one in proportion to its part. */
export class HitRate {
  #startMs: number;
  #hits = 0;
  #hitsBefore = 0;

  constructor(nowMs: number) {
    this.#startMs = nowMs;
  }

  add(hits: number, nowMs: number): void {
    this.#turn(nowMs);
    this.#hits += hits;
  }

  perSecond(nowMs: number): number {
    this.#turn(nowMs);
    const rest = 1 - (nowMs - this.#startMs) / SPAN_MS;
    return this.#hits + this.#hitsBefore * rest;
  }

  #turn(nowMs: number): void {
    const passedMs = nowMs - this.#startMs;
    if (passedMs < SPAN_MS) return;
    const seconds = Math.floor(passedMs / SPAN_MS);
    this.#hitsBefore = seconds === 1 ? this.#hits : 0;
    this.#hits = 0;
    this.#startMs += seconds * SPAN_MS;
  }
}

/** A frequently used counter, across windows: what is known of it, and its lease. */
export interface WarmCounter {
  readonly rate: HitRate;
  /** Undefined: none in a current window. */
  lease: HitLease | undefined;
}

/** Memory that V8 needs per entry besides its keys: three objects, two increments and a map slot. */
const ENTRY_BYTES = 600;

/** Longer keys are not leased: clients choose their length. */
const MAX_KEY_LENGTH = 1_024;

/** Counters that may have leases, bounded in bytes; without room there is no lease. */
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

  /** Adds a counter; undefined: there is no room for it. */
  add(place: LeasePlace, nowMs: number): WarmCounter | undefined {
    const name = nameOf(place);
    const bytes = bytesOf(name);
    if (place.key.length > MAX_KEY_LENGTH || this.#bytes + bytes > this.#maxBytes) return undefined;
    const counter: WarmCounter = { rate: new HitRate(nowMs), lease: undefined };
    this.#counters.set(copyOf(name), counter);
    this.#bytes += bytes;
    return counter;
  }

  /** Removes the counters that satisfy the predicate. */
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

/** The identity of a rule's counter, across windows. */
export type LeasePlace = Pick<Increment, 'key' | 'rule'>;

/**
 * The key without the start of its window, because a counter's rate is still known in the next window, and with the period: the keys
 * of two rules may differ only in their windows, and those of calendar periods in the length of the domain at their end.
 */
function nameOf({ key, rule }: LeasePlace): string {
  const { unit, periodSeconds = 0, calendar, domain } = rule;
  const name = key.slice(0, key.lastIndexOf('_'));
  return calendar === undefined
    ? `${unit}${String(periodSeconds)} ${name}`
    : `${periodName(calendar)} ${String(domain.length)} ${name}`;
}

/** Includes the key of its lease, which is longer by the start of a window. */
function bytesOf(name: string): number {
  return ENTRY_BYTES + 2 * bytesOfText(name);
}
