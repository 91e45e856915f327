import { Observable } from 'rxjs';

interface Event {
  readonly atMs: number;
  readonly act: () => void;
}

/** Promises that are settled by one event and wait for each other: more than the longest chain of counters has. */
const TURNS = 25;

/** A start in the middle of a window of a day. */
const START_SECONDS = 1_700_000_000;

/** Time that passes from event to event. */
export class VirtualClock {
  nowMs = 0;
  /** The next is the last. */
  readonly #events: Event[] = [];

  get nowSeconds(): number {
    return START_SECONDS + this.nowMs / 1_000;
  }

  after(delayMs: number, act: () => void): void {
    const atMs = this.nowMs + delayMs;
    let at = this.#events.length;
    while (at > 0 && (this.#events[at - 1] as Event).atMs <= atMs) at -= 1;
    this.#events.splice(at, 0, { atMs, act });
  }

  /** Emits once after so many milliseconds. */
  wait(delayMs: number): Observable<void> {
    return new Observable((subscriber) => {
      this.after(delayMs, () => {
        subscriber.next();
        subscriber.complete();
      });
    });
  }

  async runUntil(endMs: number, afterEach: () => void): Promise<void> {
    for (;;) {
      const next = this.#events.at(-1);
      if (next === undefined || next.atMs > endMs) break;
      this.#events.pop();
      this.nowMs = next.atMs;
      next.act();
      for (let turn = 0; turn < TURNS; turn += 1) await Promise.resolve();
      afterEach();
    }
    this.nowMs = endMs;
  }
}
